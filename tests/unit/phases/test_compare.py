"""Which systems are compared with which, and how: baselines, families of tests, two sides of one's choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.phases.compare import Side, compare
from seedbed.phases.context import open_run
from seedbed.phases.summary import make_summary


def made(run: Path, **options: Any) -> Any:
    opened = open_run(str(run))
    return make_summary(opened.store, opened.plan, [], {}, "completed", **options)


def test_the_first_system_is_the_baseline(toy_run: Path) -> None:
    assert {c.baseline for c in made(toy_run).comparisons} == {"weak"}


def test_another_baseline_can_be_chosen(toy_run: Path) -> None:
    summary = made(toy_run, baseline="strong")
    assert {c.baseline for c in summary.comparisons} == {"strong"}
    assert next(c for c in summary.comparisons if c.label == "weak" and c.metric == "digits").verdict == "worse"


def test_an_unknown_baseline_is_named_with_the_known_ones(toy_run: Path) -> None:
    with pytest.raises(UserError, match=r"no system of this sweep; known: ask, middle, strong, weak"):
        made(toy_run, baseline="stronk")


def test_holm_runs_over_all_tests_of_a_metric(toy_run: Path) -> None:
    tests = sorted((c.p, c.p_holm) for c in made(toy_run).comparisons if c.metric == "digits")
    assert tests[0][1] == pytest.approx(3 * tests[0][0])
    assert all(adjusted >= p for p, adjusted in tests)


def test_two_systems_of_a_sweep_are_compared(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    found = {c.metric: c for c in compare(Side(run, "weak"), Side(run, "strong"))}
    assert found["digits"].verdict == "better"
    direct = next(c for c in made(toy_run).comparisons if c.label == "strong" and c.metric == "digits")
    assert (found["digits"].difference, found["digits"].p) == (direct.difference, direct.p)


def test_a_sweep_against_itself_shows_no_difference(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    assert {c.difference for c in compare(Side(run), Side(run)) if c.metric == "digits"} == {0.0}
