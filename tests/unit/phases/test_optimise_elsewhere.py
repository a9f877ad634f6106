"""The optimise phase on other benchmarks and suites: roles, repeats, misfits, and plan beside the shipped config."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.lm.prices import token_cost
from seedbed.lm.runtime import close_runtimes
from seedbed.sweep.estimate import estimate
from tests.support.cells import Prepared, prepared

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
OTHERS = """\
name: others
seeds: [0]
models:
  m: {{model: offline/m, temperature: 0.7, options: {{ability: 0.92, noise: 0.05}}}}
experiments:
  - {experiment}
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _other(folder: Path, experiment: str) -> Prepared:
    path = folder / "others.yaml"
    path.write_text(OTHERS.format(experiment=experiment), encoding="utf-8")
    return prepared(path, folder / "out")


def test_a_system_of_another_suite_can_be_optimised(tmp_path: Path) -> None:
    ready = _other(
        tmp_path,
        "{suite: crosslingual, models: [m], benchmarks: [{name: tiny, split: true, languages: [en]}], "
        "systems: [multi], optimizers: [GEPA-5]}",
    )
    result = ready.all_phases(ready.plan.cells[0])
    assert result["usage"]["optimise"]["calls"] > 0
    assert result["metrics"]["f1"] is not None


def test_papillon_counts_judge_and_untrusted_model_under_their_own_roles(tmp_path: Path) -> None:
    ready = _other(
        tmp_path,
        "{suite: prompt_optimization, models: [m], benchmarks: [{name: Papillon, max_val: 8, max_train: 6, limit: 6}], "
        "systems: [PAPILLON], optimizers: [GEPA-5]}",
    )
    cell = ready.plan.cells[0]
    ready.all_phases(cell)
    roles = {(row["phase"], row["role"]) for row in ready.rows(cell, "lm_history.jsonl")}
    assert roles == {
        *(("optimise", role) for role in ("task", "untrusted", "judge", "reflection")),
        *(("generate", role) for role in ("task", "untrusted")),
        ("score", "judge"),
    }


def test_a_repeat_is_asked_anew(tmp_path: Path) -> None:
    ready = _other(
        tmp_path,
        "{suite: prompt_optimization, models: [m], benchmarks: [{name: AIMEBench, repeats: 3}], systems: [CoT]}",
    )
    usage = ready.phase(ready.plan.cells[0], "generate")["usage"]
    assert usage["calls"] == usage["outcomes"]["paid"] == 12 * 3


def test_a_program_that_does_not_fit_its_benchmark_says_which_one_does(tmp_path: Path) -> None:
    ready = _other(
        tmp_path, "{suite: prompt_optimization, models: [m], benchmarks: [AIMEBench], systems: [HotpotMultiHop]}"
    )
    with pytest.raises(UserError, match=r"'HotpotMultiHop' does not fit benchmark 'AIMEBench'; use 'CoT' there"):
        ready.phase(ready.plan.cells[0], "generate")


@pytest.mark.parametrize("experiment", [1, 2])
def test_plan_estimates_cells_of_the_shipped_config_within_a_factor_of_two(tmp_path: Path, experiment: int) -> None:
    """The first experiment, with a corpus to search, takes a minute: `python -m bench.plan_check` has it."""
    ready = prepared(CONFIGS / "gepa.yaml", tmp_path / "out", ["seeds=[0]"])
    cells = [cell for cell in ready.plan.cells if cell.experiment == experiment]
    assert {cell.optimizer for cell in cells} == {"Baseline", "GEPA-5", "MIPROv2-Light"}
    for cell in cells:
        guess = estimate(ready.plan, cell, token_cost)
        used = ready.all_phases(cell)["usage"].values()
        assert guess.usd is not None
        assert 0.5 < guess.calls / sum(usage["calls"] for usage in used) < 2, cell.title
        assert 0.5 < guess.usd / sum(usage["list_usd"] for usage in used) < 2, cell.title
