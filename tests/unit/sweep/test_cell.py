"""Cell ids and phase keys: the same on every machine, changed by what changes results and by nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.sweep.cell import CELL_ID_VERSION, Cell, cell_id
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

BASE: dict[str, Any] = {
    "name": "ids",
    "seeds": [3],
    "models": {"m": {"model": "openai/gpt-4.1-mini", "temperature": 0.7}, "j": {"model": "openai/gpt-4.1"}},
    "roles": {"judge": "j"},
    "experiments": [
        {
            "suite": "crosslingual",
            "models": ["m"],
            "benchmarks": [{"name": "tiny", "limit": 4}],
            "systems": [{"name": "lbrag", "budget": 70}],
        }
    ],
}


def changed(**places: Any) -> dict[str, Any]:
    """The config with other values at dotted places (`__` for a dot)."""
    config = yaml.safe_load(yaml.safe_dump(BASE))
    for place, value in places.items():
        *path, last = [int(part) if part.isdigit() else part for part in place.split("__")]
        found: Any = config
        for part in path:
            found = found[part]
        found[last] = value
    return config


def cell_of(folder: Path, config: dict[str, Any]) -> Cell:
    path = folder / "ids.yaml"
    path.write_text(yaml.safe_dump(config))
    (cell,) = make_plan(*load_config(path)).cells
    return cell


def test_the_id_is_pinned_for_this_version_of_the_recipe() -> None:
    assert CELL_ID_VERSION == 2
    parts = {"system": "a" * 64, "model": "b" * 64, "seed": "c" * 64}
    assert cell_id(parts) == "acc7bfc0b2fbad36f9e24c45fec75720660997fe32bb3221dcf06d8c37ac7ff2"


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": [4]},
        {"experiments__0__systems__0__budget": 71},
        {"experiments__0__benchmarks__0__limit": 5},
        {"models__m__temperature": 0.8},
        {"models__m__api_base": "http://localhost:1/v1"},
        {"models__m__model": "openai/gpt-4.1"},
        {"roles": {"judge": "j", "translator": "j"}},
        {"roles": {"judge": "j", "critic": "j"}},
    ],
    ids=str,
)
def test_what_changes_answers_changes_the_id(tmp_path: Path, change: dict[str, Any]) -> None:
    assert cell_of(tmp_path, changed(**change)).id != cell_of(tmp_path, BASE).id


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"models__m__limits": {"concurrency": 3}},
        {"models__m__retries": 9},
        {"models__m__timeout_s": 5.0},
        {"models__m__backoff_s": 0.1},
        {"models__m__price": {"input": 1, "output": 2}},
        {"models__m__api_key_env": "SOME_KEY"},
        {"experiments__0__systems__0__label": "shown-otherwise"},
        {"budget": {"max_usd": 3}},
    ],
    ids=str,
)
def test_what_changes_no_result_keeps_id_and_keys(tmp_path: Path, change: dict[str, Any]) -> None:
    before, after = cell_of(tmp_path, BASE), cell_of(tmp_path, changed(**change))
    assert after.id == before.id
    assert after.key("score") == before.key("score")


def test_another_judge_changes_the_key_of_scoring_alone(tmp_path: Path) -> None:
    before, after = cell_of(tmp_path, BASE), cell_of(tmp_path, changed(roles={"judge": "m"}))
    assert (after.id, after.key("generate")) == (before.id, before.key("generate"))
    assert after.key("score") != before.key("score")


def test_the_key_of_a_phase_holds_that_of_the_phase_before() -> None:
    cell = Cell("a", 0, "s", "b", "x", "GEPA-5", "m", 0, {}, {"scoring": "1"}, optimised=True)
    other = Cell("b", 0, "s", "b", "x", "GEPA-5", "m", 0, {}, {"scoring": "1"}, optimised=True)
    assert cell.phases == ("optimise", "generate", "score")
    assert all(cell.key(phase) != other.key(phase) for phase in cell.phases)
    assert len({cell.key(phase) for phase in cell.phases}) == 3


def test_faults_and_latency_of_the_offline_model_keep_the_id(tmp_path: Path) -> None:
    plain = changed(models__m={"model": "offline/reader", "options": {"noise": 0.1}})
    slow = changed(
        models__m={
            "model": "offline/reader",
            "options": {"noise": 0.1, "latency_ms": 9, "errors": {"server": 0.1}},
        }
    )
    assert cell_of(tmp_path, plain).id == cell_of(tmp_path, slow).id


def test_answers_that_the_offline_model_spoils_are_other_answers(tmp_path: Path) -> None:
    def with_malformed(rate: float) -> str:
        options = {"errors": {"malformed": rate, "server": 0.1}}
        return cell_of(tmp_path, changed(models__m={"model": "offline/reader", "options": options})).id

    assert len({with_malformed(rate) for rate in (0.0, 0.1, 0.2)}) == 3


def test_the_folder_tells_benchmark_system_optimizer_and_model() -> None:
    names = ("prompt_optimization", "HotpotQABench", "HotpotMultiHop", "GEPA-5", "gpt-41-mini")
    cell = Cell("x", 0, *names, 0, {}, {}, optimised=True)
    assert cell.folder == "experiment_runs/seed_0/HotpotQABench_HotpotMultiHop_GEPA-5_gpt-41-mini"
    assert cell.title == "HotpotMultiHop · HotpotQABench · GEPA-5 · gpt-41-mini · seed 0"
