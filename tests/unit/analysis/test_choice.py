"""How many examples tell the candidates of a search apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.choice import Scores, _student, examples_for, observed_spread, shown_by, too_few  # type: ignore[attr-defined]


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


@pytest.mark.parametrize("others", [[{"a": 1.0}, {"a": 0.5}], []])
def test_one_example_or_no_candidate_shows_no_spread(others: list[Scores]) -> None:
    assert observed_spread({"a": 0.2}, others) is None
    assert observed_spread({}, others) is None


def test_examples_that_the_base_program_was_not_scored_on_do_not_count() -> None:
    base, own = {"a": 0.1, "b": 0.4, "c": 0.9}, {"a": 0.3, "b": 0.2, "c": 0.4, "d": 9.0}
    assert observed_spread(base, [own, {"a": 1.0, "b": 0.0}]) == pytest.approx(np.std([0.2, -0.2, -0.5], ddof=1))


@pytest.mark.parametrize("share", [0.8, 0.975])
@pytest.mark.parametrize("degrees", [60, 100, 300])
def test_the_quantile_is_exact_but_for_the_third_power_of_the_degrees(share: float, degrees: int) -> None:
    """What is left is the next term of Cornish and Fisher."""
    z = float(stats.norm.ppf(share))
    left = (float(stats.t.ppf(share, degrees)) - _student(share, degrees)) * degrees**3
    assert left == pytest.approx((3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384, rel=0.06)


@pytest.mark.parametrize(("n", "spread"), [(2, 0.01), (3, 0.1), (10, 0.5)])
def test_what_is_shown_is_the_sum_of_two_quantiles_in_standard_errors(n: int, spread: float) -> None:
    error = spread / n**0.5
    assert shown_by(n, spread) == pytest.approx((_student(0.975, n - 1) + _student(0.8, n - 1)) * error)


def test_a_difference_of_the_whole_range_can_be_shown_and_no_larger_one() -> None:
    at_one = 1 / ((_student(0.975, 3) + _student(0.8, 3)) / 2)
    assert shown_by(4, 0.999 * at_one) == pytest.approx(0.999)
    assert shown_by(4, 1.001 * at_one) is None
    assert shown_by(100, 1 / (shown_by(100, 1.0) or 0.0)) == 1.0


@pytest.mark.parametrize(
    ("difference", "spread", "n"), [(0.1, 0.5, 200), (0.1, 0.2, 40), (0.2, 0.5, 50), (0.1, 0.1, 10), (0.05, 0.25, 200)]
)
def test_examples_for_a_difference_are_those_of_the_normal_test_in_tens(
    difference: float, spread: float, n: int
) -> None:
    exact = ((1.959964 + 0.841621) * spread / difference) ** 2
    assert n - 10 < exact <= n
    assert examples_for(difference, spread) == n


def test_the_sentence_says_what_the_spread_is_from_and_counts_one_example_as_one() -> None:
    assert too_few("GEPA-5 and MIPRO", "val", 24) == (
        "candidates of GEPA-5 and MIPRO are chosen by 24 val examples, which can show a difference of 0.30 or more "
        "(80% power, spread 0.50 assumed): a smaller gain is chance as much as merit; give it more, 200 show 0.1"
    )
    assert too_few("GEPA-5", "train", 1, spread=0.2) == (
        "candidates of GEPA-5 are chosen by 1 train example, which can show no difference at all "
        "(80% power, spread 0.20 as seen): a smaller gain is chance as much as merit; give it more, 40 show 0.1"
    )


def test_a_tenth_itself_is_small_enough_to_be_seen() -> None:
    enough = 0.1 / (shown_by(100, 1.0) or 0.0)
    assert shown_by(100, enough) == 0.1
    assert too_few("GEPA-5", "val", 100, enough) is None
    assert too_few("GEPA-5", "val", 100, 1.001 * enough) is not None
