"""What is written of a cell's scores: a row a case, its answers that were cut off, who answered with what."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.phases import score as module
from seedbed.phases.score import cell_manifest, metric_log
from seedbed.storage.store import write_json
from seedbed.suite import Case, Metric, ScoreRow
from seedbed.suites.kit.outcomes import TRUNCATED

RIGHT = Metric("right", "Right")


def test_the_log_has_the_first_metric_of_every_sample() -> None:
    rows = [ScoreRow("a", "ok", {"right": 0.5, "other": 1.0}), ScoreRow("b", "error")]
    assert metric_log(RIGHT, rows) == [
        {"sample_id": "a", "status": "ok", "score": 0.5},
        {"sample_id": "b", "status": "error", "score": None},
    ]


def test_rows_of_answers_that_were_cut_off_say_so() -> None:
    usage = {"a": SimpleNamespace(cut=2), "b": SimpleNamespace(cut=0)}
    context: Any = SimpleNamespace(sample_usage=lambda: usage)
    rows = [ScoreRow(sample, "ok", {}, {"told": 1}) for sample in "abc"]
    found = module._with_cuts(context, rows)  # pyright: ignore[reportPrivateUsage]
    assert [row.details for row in found] == [{"told": 1, TRUNCATED: 2}, {"told": 1}, {"told": 1}]


@pytest.mark.parametrize(("samples", "fine"), [("ab", True), ("ba", False), ("a", False), ("abb", False)])
def test_a_suite_scores_every_case_once_and_in_order(samples: str, fine: bool) -> None:
    benchmark = SimpleNamespace(test=[Case("a", {}), Case("b", {})])
    context: Any = SimpleNamespace(benchmark=benchmark, suite=SimpleNamespace(name="toy"))
    rows = [ScoreRow(sample, "ok") for sample in samples]
    if fine:
        module._one_row_a_case(context, rows)  # pyright: ignore[reportPrivateUsage]
        return
    with pytest.raises(AssertionError, match=f"suite 'toy' must score every case once, in order: {len(samples)} rows"):
        module._one_row_a_case(context, rows)  # pyright: ignore[reportPrivateUsage]


def test_phases_before_the_scoring_are_those_of_the_cell(tmp_path: Path) -> None:
    for phase in ("optimise", "generate", "score"):
        write_json(tmp_path / "done" / f"{phase}.json", {"result": {"phase": phase}})
    for phases in (("generate", "score"), ("optimise", "generate", "score")):
        context: Any = SimpleNamespace(cell=SimpleNamespace(phases=phases))
        found = module._earlier_phases(context, tmp_path)  # pyright: ignore[reportPrivateUsage]
        assert found == {phase: {"phase": phase} for phase in phases[:-1]}


def context_of(*simulated: bool) -> Any:
    """A cell with a task and a judge."""
    models = {
        role: (f"m-{role}", SimpleNamespace(simulated=own))
        for role, own in zip(("task", "judge"), simulated, strict=True)
    }
    resolved = SimpleNamespace(
        roles=("judge",),
        model=lambda role: models[role],
        suite=SimpleNamespace(name="toy", version="3"),
        benchmark_options=SimpleNamespace(model_dump=lambda mode: {"n": 4}),
    )
    plan = SimpleNamespace(config_hash="c", data_hash=lambda cell: "d")
    return SimpleNamespace(
        run=SimpleNamespace(plan=plan),
        cell=SimpleNamespace(id="id", key=lambda phase: f"key of {phase}"),
        resolved=resolved,
        benchmark=SimpleNamespace(excluded={"x": "too long"}, warnings=["few"]),
    )


def test_a_manifest_names_models_by_role_and_who_answered() -> None:
    found = cell_manifest(context_of(False, False), [{"model": "m", "answers": 5}])
    assert found["roles"] == {"task": "m-task", "judge": "m-judge"}
    assert found["answerers"] == [{"model": "m"}], "how often differs from run to run"
    assert (found["data_hash"], found["excluded"], found["warnings"]) == ("d", {"x": "too long"}, ["few"])
    assert (found["score_key"], found["suite"]) == ("key of score", {"name": "toy", "version": "3"})


def test_without_the_cases_what_is_known_from_them_is_left_out() -> None:
    whole, bare = (cell_manifest(context_of(False, False), [], with_cases=with_cases) for with_cases in (True, False))
    assert set(whole) - set(bare) == {"data_hash", "excluded", "warnings"}
    assert set(bare) < set(whole)


@pytest.mark.parametrize(
    ("task", "judge", "simulated"),
    [(False, False, False), (True, False, True), (False, True, True), (True, True, True)],
)
def test_one_offline_model_makes_a_cell_simulated(task: bool, judge: bool, simulated: bool) -> None:
    assert cell_manifest(context_of(task, judge), [])["simulated"] is simulated
