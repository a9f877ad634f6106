"""Names, options and budgets of optimizers, checked before anything is imported or run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.lm.prices import token_cost
from seedbed.sweep.config import load_config
from seedbed.sweep.estimate import estimate
from seedbed.sweep.optimizers import (
    Budget,
    GepaBudgetOptions,
    GepaOptions,
    SearchSize,
    find_optimizer,
    full_evaluations,
    optimizer,
    optimizer_names,
)
from seedbed.sweep.plan import Plan, make_plan

CONFIG = """\
name: names
seeds: [0]
models:
  m: {{model: offline/m}}
  n: {{model: offline/n}}
{extra}
experiments:
  - suite: {suite}
    models: [m]
    benchmarks: [{benchmark}]
    systems: [{system}]
    optimizers: {optimizers}
"""


def _plan(folder: Path, optimizers: str, **changes: Any) -> Plan:
    values = {"suite": "prompt_optimization", "benchmark": "AIMEBench", "system": "CoT", "extra": ""} | changes
    path = folder / "names.yaml"
    path.write_text(CONFIG.format(optimizers=optimizers, **values), encoding="utf-8")
    config, source = load_config(path)
    return make_plan(config, source)


@pytest.mark.parametrize(
    "name", ["GEPA-5", "GEPA-50", "GEPA", "GEPA-MERGE", "MIPROv2-Light", "MIPROv2-Heavy", "SIMBA", "COPRO"]
)
def test_known_names(name: str) -> None:
    assert find_optimizer(name) is not None


@pytest.mark.parametrize("name", ["Baseline", "GEPA-", "GEPA-five", "MIPROv2", "gepa-5"])
def test_names_of_no_optimizer(name: str) -> None:
    assert find_optimizer(name) is None


@pytest.mark.parametrize(
    ("name", "evaluations"), [("GEPA-5", 5), ("GEPA-50", 50), ("GEPA", None), ("GEPA-MERGE", None)]
)
def test_gepa_n_counts_whole_val_evaluations(name: str, evaluations: int | None) -> None:
    assert full_evaluations(name) == evaluations


def test_minibatches_come_on_top_of_the_evaluations_of_gepa_n() -> None:
    spec = find_optimizer("GEPA-5")
    assert spec is not None
    budget = spec.budget(SearchSize("GEPA-5", GepaOptions(), 150, 300, 1))
    assert 5 * 300 < budget.metric_calls < 6 * 300
    assert budget.reflections > 4


def test_max_metric_calls_includes_minibatches() -> None:
    spec = find_optimizer("GEPA")
    assert spec is not None
    assert spec.budget(SearchSize("GEPA", GepaBudgetOptions(max_metric_calls=1500), 150, 300, 1)).metric_calls == 1500


def test_the_nearest_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unknown optimizer 'MIPROv2-Lite'.*did you mean 'MIPROv2-Light'\?"):
        _plan(tmp_path, "[MIPROv2-Lite]")


def test_gepa_without_a_budget_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"optimizers\.0\.max_metric_calls: Field required"):
        _plan(tmp_path, "[GEPA]")


def test_an_unknown_option_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unknown option of optimizer 'GEPA-5'; did you mean 'threads'\?"):
        _plan(tmp_path, "[{name: GEPA-5, thread: 2}]")


def test_a_benchmark_without_train_cases_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"GEPA-5 needs train and val cases.*set `split: true`"):
        _plan(tmp_path, "[GEPA-5]", suite="crosslingual", benchmark="tiny", system="direct")
    plan = _plan(tmp_path, "[GEPA-5]", suite="crosslingual", benchmark="{name: tiny, split: true}", system="direct")
    assert len(plan.cells) == 1


def test_use_cache_from_must_name_another_optimizer_of_the_experiment(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"use_cache_from: 'Basline' is no other optimizer.*did you mean 'Baseline'\?"):
        _plan(tmp_path, "[Baseline, {name: GEPA-5, use_cache_from: Basline}]")
    plan = _plan(tmp_path, "[Baseline, {name: GEPA-5, use_cache_from: Baseline}]")
    base, tuned = plan.cells
    assert plan.cache_source(tuned) == base
    assert plan.cache_source(base) is None
    alone = _plan(tmp_path, "[GEPA-5]")
    assert (plan.draws(base), plan.draws(tuned), alone.draws(alone.cells[0])) == ("", "", "GEPA-5")
    assert tuned.id != alone.cells[0].id, "other draws, other results"


def test_the_reflection_model_is_part_of_an_optimised_cell_only(tmp_path: Path) -> None:
    own = _plan(tmp_path, "[Baseline, GEPA-5]").cells
    other = _plan(tmp_path, "[Baseline, GEPA-5]", extra="roles: {reflection: n}").cells
    assert own[0].id == other[0].id
    assert own[1].id != other[1].id


def test_an_optimizer_of_ones_own_can_be_named(tmp_path: Path) -> None:
    @optimizer("Nothing", budget=lambda size: Budget(size.n_val))
    def nothing(job: Any) -> Any:
        return job.program

    assert "Nothing" in optimizer_names()
    assert _plan(tmp_path, "[Nothing]").cells[0].optimizer == "Nothing"


def test_a_search_is_estimated_to_cost_more_than_its_evaluation(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "[Baseline, GEPA-5, GEPA-10]")
    base, five, ten = (estimate(plan, cell, token_cost) for cell in plan.cells)
    assert base.calls < five.calls < ten.calls
    assert base.usd is not None
    assert five.usd is not None
    assert five.usd > 2 * base.usd


def test_planning_imports_neither_dspy_nor_litellm() -> None:
    heavy = ("dspy", "litellm", "gepa")
    code = f"import sys, seedbed.sweep.plan, seedbed.sweep.estimate; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["SIMBA", "BootstrapFewShot"])
def test_stop_is_refused_where_no_plateau_shows_and_those_that_can_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"optimizers.0.stop.*{name!r} has no rounds .* GEPA, .*MIPROv2-Light.* COPRO"):
        _plan(tmp_path, f"[{{name: {name}, stop: {{patience: 5}}}}]")


def test_a_val_split_too_small_to_choose_by_is_warned_of_with_its_size(tmp_path: Path) -> None:
    (warning,) = _plan(tmp_path, "[Baseline, GEPA-5, GEPA-9]").load_benchmarks()
    said = "prompt_optimization · AIMEBench: candidates of GEPA-5 and GEPA-9 are chosen by 24 val examples,"
    assert warning.startswith(said)


def test_the_splits_are_those_that_an_optimizer_chooses_by(tmp_path: Path) -> None:
    warnings = _plan(tmp_path, "[SIMBA, COPRO, BootstrapFewShot]").load_benchmarks()
    assert [text.partition(" by ")[2].partition(",")[0] for text in warnings] == [
        "42 train and val examples",
        "18 train examples",
    ]


def test_examples_that_an_optimizer_does_not_take_do_not_count(tmp_path: Path) -> None:
    rows = [{"id": f"r{i}", "question": f"Is {i} even?", "answer": "yes"} for i in range(900)]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    mine = "{name: mine, path: rows.jsonl, inputs: [question], answer: answer, split: true}"
    custom = {"suite": "custom", "benchmark": mine, "system": "{name: qa, prompt: 'Answer. {question}'}"}
    said = _plan(tmp_path, "[GEPA-5, MIPROv2-Light]\n    scorers: [exact]", **custom).load_benchmarks()
    assert [text.partition(", which")[0] for text in said] == [
        "custom · mine: candidates of MIPROv2-Light are chosen by 100 val examples"
    ]
