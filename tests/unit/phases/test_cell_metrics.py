"""The figures of a cell that follow from what added scorers said of its answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.phases.scorers import cell_metrics
from seedbed.suite import Case, Metric, Options, ScoreRow, ScorerSpec
from seedbed.suites.kit.outcomes import failed_row
from seedbed.sweep.resolved import AddedScorer


def _figures(*rows: ScoreRow) -> dict[str, Any]:
    scorer = AddedScorer("s", ScorerSpec(lambda *_: None, (Metric("hit", "Hit"),)), Options())
    suite = SimpleNamespace(aggregate=lambda _rows: {})
    resolved: Any = SimpleNamespace(suite=suite, scorers=(scorer,), passes=())
    return cell_metrics(resolved, rows)


def test_a_figure_is_the_mean_of_what_answers_scored_and_says_of_how_many() -> None:
    scored = [ScoreRow(f"q{n}", "ok", {"hit": value}) for n, value in enumerate((0.25, 1.0, None))]
    found = _figures(*scored, failed_row(Case("q3", {}), "no answer"))
    assert (found["hit"], found["n_hit"]) == (0.625, 2)
    assert found["hit_std"] == pytest.approx(0.5303, abs=1e-4)


def test_where_nothing_was_answered_it_is_undefined_and_not_0() -> None:
    found = _figures(failed_row(Case("q0", {}), "no answer"))
    assert (found["hit"], found["hit_std"], found["n_hit"]) == (None, None, 0)
