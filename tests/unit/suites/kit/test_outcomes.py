"""Counting samples: each once, in every suite, also where a judge fails on some of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.lm.runtime import close_runtimes
from seedbed.suite import Case, Failure, Metric, ScoreRow
from seedbed.suites.kit.outcomes import counts, failed_row, mean_figures, skipped_row, unanswered_row
from seedbed.sweep.registry import get_suite
from tests.support.cells import Prepared, prepared

CASE = Case("a", {}, cluster="q")


def test_a_failed_sample_is_an_error_with_its_kind_and_no_score() -> None:
    row = failed_row(CASE, Failure("a", {"kind": "timeout", "message": "120 s"}), {"lang": "en"})
    assert row == ScoreRow("a", "error", {}, {"lang": "en"}, "timeout: 120 s", "q")
    assert failed_row(CASE, "no turn").reason == "no turn"
    assert skipped_row(CASE, "no row in the file").status == "skipped"


def test_an_unreadable_answer_is_scored_as_badly_as_can_be() -> None:
    metrics = [
        Metric("f1", "F1"),
        Metric("halluc", "H", higher_is_better=False),
        Metric("cost", "C", range=None, higher_is_better=False),
        Metric("kappa", "K", kind="pooled"),
        Metric("judged", "J"),
    ]
    names = ("f1", "halluc", "cost", "kappa")
    row = unanswered_row(CASE, Failure("a", {"kind": "AdapterParseError", "message": "no"}), metrics, names, {"x": 1})
    assert (row.status, row.reason) == ("ok", None)
    assert row.scores == {"f1": 0.0, "halluc": 1.0, "cost": None, "kappa": None}
    assert row.details == {"x": 1, "unreadable": "AdapterParseError: no"}
    assert counts([row]) == {"n": 1, "n_errors": 0, "n_skipped": 0, "n_unreadable": 1}


@pytest.mark.parametrize("kind", ["server", "timeout", "malformed", "ValueError", "judge ValueError"])
def test_what_is_not_the_systems_fault_is_missing(kind: str) -> None:
    row = unanswered_row(CASE, Failure("a", {"kind": kind, "message": "no"}), [Metric("f1", "F1")], ["f1"])
    assert (row.status, row.scores) == ("error", {})


_ROWS = st.lists(
    st.builds(
        ScoreRow,
        sample_id=st.uuids().map(str),
        status=st.sampled_from(["ok", "error", "skipped"]),
        scores=st.fixed_dictionaries({"f1": st.one_of(st.none(), st.floats(0, 1))}),
        reason=st.one_of(st.none(), st.just("judge: down")),
    )
)


@given(_ROWS)
def test_every_sample_is_counted_once(rows: list[ScoreRow]) -> None:
    found = counts(rows)
    assert sum(found.values()) == len(rows)
    figures = mean_figures(rows, ["f1"])
    assert figures.get("n_f1", figures["n"]) == sum(row.scores["f1"] is not None for row in rows)


SWEEP = """\
name: failing
seeds: [0]
max_error_share: 1
models:
  m: {{model: offline/m, retries: 0, options: {{errors: {{server: 0.1}}}}}}
  judge: {{model: offline/judge, retries: 0, options: {{errors: {{malformed: 0.5, server: 0.2}}}}}}
roles: {{judge: judge{roles}}}
experiments:
  - suite: {suite}
    models: [m]
    benchmarks: [{{{benchmark}}}]
    systems: [{system}]
"""
JUDGED = {
    "crosslingual": ("name: tiny, limit: 24", "multi", ", translator: m"),
    "rag_quality": ("name: sample", "given", ""),
    "finance_dialog": ("name: dialogues, judge: true", "llm_only", ""),
    "prompt_optimization": ("name: Papillon, limit: 12", "PAPILLON", ", untrusted: m"),
    "contract_risk": ("name: clauses", "prompt_only", ""),
}


@pytest.fixture(params=list(JUDGED))
def scored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Prepared]]:
    """A cell of each suite, generated and scored by models that fail now and then."""
    benchmark, system, roles = JUDGED[request.param]
    config = tmp_path / "failing.yaml"
    config.write_text(
        SWEEP.format(suite=request.param, benchmark=benchmark, system=system, roles=roles), encoding="utf-8"
    )
    yield request.param, prepared(config, tmp_path / "out")
    close_runtimes()


def _judge_failed(row: ScoreRow) -> bool:
    """Of rag_quality the results tell it, elsewhere the reason does."""
    results: dict[str, Any] = row.details.get("results") or {}
    return any(own["status"] == "error" for own in results.values()) or (row.reason or "").startswith("judge")


def test_with_a_failing_judge_counts_add_up_and_every_mean_has_its_n(scored: tuple[str, Prepared]) -> None:
    suite, sweep = scored
    cell = sweep.plan.cells[0]
    metrics: dict[str, Any] = sweep.all_phases(cell)["metrics"]
    rows = [ScoreRow(**row) for row in sweep.rows(cell, "scores.jsonl")]
    assert len(rows) == len(sweep.plan.benchmark(cell).test)
    assert metrics["n"] + metrics["n_errors"] + metrics["n_skipped"] == len(rows)
    assert metrics["n_errors"] > 0
    if suite != "contract_risk":  # it has no judge
        assert any(_judge_failed(row) for row in rows), "the judge never failed: nothing is shown"
    for name in get_suite(suite).metrics:  # where a suite counts a metric's own samples, they add up too
        own = [metrics.get(f"{name.name}_n_{status}") for status in ("ok", "skipped", "error")]
        assert own == [None] * 3 or sum(own) == len(rows), name.name
    # A failed review counts as a miss there: its levels are of all cases.
    missed = metrics["n_errors"] if suite == "contract_risk" else 0
    for metric in get_suite(suite).metrics:
        if metric.kind != "pooled" and metrics.get(metric.name) is not None:
            over = sum(row.scores.get(metric.name) is not None for row in rows)
            assert metrics.get(f"n_{metric.name}", metrics["n"]) in (over, over + missed), metric.name


UNREADABLE = """\
name: unreadable
seeds: [0]
models:
  m: {{model: offline/m, retries: 0, options: {{errors: {{malformed: 0.6}}}}}}
experiments:
  - suite: {suite}
    models: [m]
    benchmarks: [{{{benchmark}}}]
    systems: [{system}]
"""


@pytest.mark.parametrize(
    ("suite", "benchmark", "system"),
    [("crosslingual", "name: tiny, limit: 16", "multi"), ("contract_risk", "name: clauses, limit: 12", "prompt_only")],
)
def test_a_system_pays_for_answers_that_cannot_be_read(suite: str, benchmark: str, system: str, tmp_path: Path) -> None:
    """More of them than `max_error_share` allows: they are scores, and the cell is not given up."""
    config = tmp_path / "unreadable.yaml"
    config.write_text(UNREADABLE.format(suite=suite, benchmark=benchmark, system=system), encoding="utf-8")
    sweep = prepared(config, tmp_path / "out")
    metrics: dict[str, Any] = sweep.all_phases(sweep.plan.cells[0])["metrics"]
    rows = sweep.rows(sweep.plan.cells[0], "scores.jsonl")
    close_runtimes()
    first = get_suite(suite).metrics[0].name
    lost = [row for row in rows if "unreadable" in row["details"]]
    assert metrics["n_unreadable"] == len(lost) > 0
    assert (metrics["n"], metrics["n_errors"]) == (len(rows), 0)
    assert all(row["scores"][first] == 0 for row in lost)
    assert metrics[first] == pytest.approx(sum(row["scores"][first] for row in rows) / len(rows))
