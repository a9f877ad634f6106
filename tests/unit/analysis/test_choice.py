"""How many examples tell the candidates of a search apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.choice import _student, examples_for, observed_spread, shown_by, too_few  # type: ignore[attr-defined]


@pytest.mark.parametrize(("n", "spread"), [(8, 0.2), (24, 0.5), (100, 0.3)])
def test_what_n_examples_can_show_is_shown_in_four_of_five_searches(n: int, spread: float) -> None:
    shown = shown_by(n, spread)
    assert shown is not None
    drawn = np.random.default_rng(1).normal(shown, spread, (4000, n))
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(n)
    found = t > stats.t.ppf(0.975, n - 1)
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("degrees", "near"), [(4, 0.02), (7, 0.004), (15, 0.0005), (100, 1e-5)])
def test_without_scipy_the_quantile_of_student_is_nearly_that_of_scipy(degrees: int, near: float) -> None:
    for share in (0.8, 0.95, 0.975):
        assert _student(share, degrees) == pytest.approx(float(stats.t.ppf(share, degrees)), rel=near)


def test_one_example_shows_nothing() -> None:
    assert shown_by(1, 0.5) is None
    assert "can show no difference at all" in (too_few("GEPA-5", "val", 1) or "")


def test_few_examples_are_named_with_what_they_show_and_how_many_would_do() -> None:
    said = too_few("GEPA-5", "val", 24) or ""
    assert "candidates of GEPA-5 are chosen by 24 val examples, which can show a difference of 0.30 or more" in said
    assert said.endswith(f"{examples_for(0.1, 0.5)} show 0.1")


def test_nothing_is_said_where_examples_are_enough() -> None:
    enough = examples_for(0.1, 0.5)
    assert too_few("GEPA-5", "val", enough + 5) is None
    assert too_few("GEPA-5", "val", 24, spread=0.1) is None, (
        "a spread that was seen counts for more than one that is assumed"
    )


def test_the_spread_is_that_of_differences_from_the_base_program() -> None:
    base = {"a": 0.0, "b": 1.0, "c": 0.0, "d": 1.0}
    half = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}
    assert observed_spread(base, [half]) == pytest.approx(np.std([1, 0, 1, 0], ddof=1))
    assert observed_spread(base, [half, dict(base)]) == pytest.approx(np.std([1, 0, 1, 0], ddof=1) / np.sqrt(2))


def test_candidates_of_minibatches_and_equal_ones_show_no_spread() -> None:
    base = {"a": 0.0, "b": 1.0}
    assert observed_spread(base, [{"a": 1.0}]) is None
    assert observed_spread(base, [dict(base)]) is None
