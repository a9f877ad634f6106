"""What is published of a comparison that was looked at while it grew."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from seedbed.analysis.contests import Decision, Figures, Looked
from seedbed.analysis.looked import account_for_looks
from seedbed.analysis.measured import Measured
from seedbed.analysis.power import Sized
from seedbed.analysis.results import Comparison
from seedbed.analysis.spending import boundaries, look_level, reached_level


def _looked(asked: int = 160, decision: Decision = "better", z: float = 3.2) -> Looked:
    seen = [Figures(40 * k, 40 * k, 0.1, 0.03, 0.5) for k in range(1, 4)] + [Figures(160, 160, 0.1, 0.03, z)]
    return Looked("f1", 10, seen, decision, asked, 400)


def _measured(metric: str = "f1", p: float = 0.001) -> Measured:
    compared = Comparison("s", "b", "m", "own", "base", metric, n_pairs=160, n_clusters=160, difference=0.1,
                          ci_low=0.04, ci_high=0.16, p=p, test="permutation")  # fmt: skip
    return Measured(compared, most=1.0)


@pytest.mark.parametrize(
    ("asked", "decision", "words"),
    [
        (160, "better", "stopped at 160 of 400: decided (better)"),
        (160, "futile", "stopped at 160 of 400: decided (futile)"),
        (160, "go on", "open after 160 of 400"),
        (400, "worse", "all 400 asked: decided (worse)"),
        (400, "futile", "all 400 asked: not decided"),
    ],
)
def test_how_it_ended_is_said(asked: int, decision: Decision, words: str) -> None:
    assert account_for_looks(_measured(), _looked(asked, decision)).comparison.stopped == words


def test_the_deciding_metric_has_the_p_of_its_looks_and_a_wider_interval() -> None:
    limit = boundaries(10, 0.05)[3]
    c = account_for_looks(_measured(), _looked(z=limit)).comparison
    assert c.p == pytest.approx(0.05)
    assert c.test == "sequential"
    assert c.ci_low == pytest.approx(0.1 - 0.06 * limit / 1.96, abs=0.002)
    assert (c.ci_high or 0) - 0.1 == pytest.approx(0.1 - (c.ci_low or 0))


def test_another_metric_is_held_to_the_look_that_it_came_to() -> None:
    c = account_for_looks(_measured("em"), _looked()).comparison
    assert c.test == "permutation"
    assert c.p is not None
    assert c.p > 0.02, "p = .001 at the fourth of ten looks"
    assert c.stopped == "stopped at 160 of 400: decided by f1 (better)"


def test_intervals_stay_within_the_range() -> None:
    wide = _measured()
    wide = Measured(wide.comparison, most=0.15)
    assert account_for_looks(wide, _looked()).comparison.ci_high == 0.15


def test_an_interval_over_few_seeds_grows_with_their_degrees_of_freedom() -> None:
    from scipy import stats

    plain = _measured()
    over_seeds = Sized(160, 160, 160, 1.0, [(0.01, 159.0), (0.02, 30.0), (0.03, 4.0)], 1.0, test="t")
    c = account_for_looks(Measured(plain.comparison, over_seeds, most=9.0), _looked()).comparison
    level = look_level(10, 4, 0.05)
    factor = stats.t.ppf(1 - level / 2, 4) / stats.t.ppf(0.975, 4)
    assert c.ci_high == pytest.approx(0.1 + 0.06 * factor, abs=1e-4)
    assert factor > 1.5 * boundaries(10, 0.05)[3] / 1.96, "far more than over many samples"


def test_where_nobody_looked_or_nothing_is_known_only_the_words_are_added() -> None:
    measured = _measured()
    unseen = Looked("f1", 10, [], "go on", 0, 400)
    assert account_for_looks(measured, unseen) == replace(
        measured, comparison=replace(measured.comparison, stopped="open after 0 of 400")
    )
    unknown = Measured(replace(measured.comparison, difference=None, ci_low=None, ci_high=None, p=None, test=None))
    said = account_for_looks(unknown, _looked()).comparison
    assert said == replace(unknown.comparison, stopped="stopped at 160 of 400: decided (better)")


def test_looks_that_could_make_no_test_leave_no_p() -> None:
    blind = replace(_looked(), seen=[Figures(40, 40, 0.1, None, None)] * 4)
    own = account_for_looks(_measured(), blind).comparison
    assert (own.p, own.test) == (None, None)
    other = replace(_measured("em").comparison, p=None, test=None)
    assert account_for_looks(Measured(other, most=1.0), _looked()).comparison.p is None


@pytest.mark.parametrize("p", [0.03, 1e-5])
def test_a_p_at_a_look_is_the_level_whose_limit_it_meets(p: float) -> None:
    from scipy import stats

    expected = float(reached_level(10, 4, stats.norm.isf(p / 2)))
    assert account_for_looks(_measured("em", p), _looked()).comparison.p == pytest.approx(expected)


def test_a_p_of_nothing_is_the_least_that_is_told() -> None:
    assert account_for_looks(_measured("em", 0.0), _looked()).comparison.p == pytest.approx(1e-8)


@pytest.mark.parametrize(("asked", "kept"), [(160, False), (399, False), (400, True)])
def test_what_could_have_been_found_is_said_where_all_were_asked(asked: int, kept: bool) -> None:
    sized = Sized(160, 160, 160, 1.0, [(0.01, 159.0)], 1.0)
    measured = Measured(_measured().comparison, sized, most=1.0)
    assert (account_for_looks(measured, _looked(asked)).sized is sized) is kept


@pytest.mark.parametrize(
    ("errors", "n_clusters", "degrees"),
    [
        (None, 160, 159), (None, 3, 2), (None, 2, 1), (None, 1, 1), (None, 0, 1),
        ([], 3, 2), ([(math.inf, 4.0), (0.0, 1.0)], 3, 2), ([(math.inf, 2.0), (2.5, 7.0), (0.0, 1.0)], 3, 7),
    ],
)  # fmt: skip
def test_an_interval_grows_as_students_t_does_from_a_single_look_to_this_one(
    errors: list[tuple[float, float]] | None, n_clusters: int, degrees: int
) -> None:
    """By the degrees of freedom of its errors, or where none is known of its clusters."""
    from scipy import stats

    sized = None if errors is None else Sized(160, 160, 160, 1.0, errors, 1.0)
    measured = Measured(replace(_measured().comparison, n_clusters=n_clusters, ci_low=0.07, ci_high=0.15), sized, 1e9)
    factor = stats.t.isf(look_level(10, 4, 0.05) / 2, degrees) / stats.t.isf(0.025, degrees)
    c = account_for_looks(measured, _looked()).comparison
    assert (c.ci_low, c.ci_high) == pytest.approx((0.1 - 0.03 * factor, 0.1 + 0.05 * factor))


def test_an_end_that_is_not_known_stays_so_and_the_lower_one_stays_in_the_range_too() -> None:
    measured = _measured()
    open_ended = Measured(replace(measured.comparison, ci_low=None, ci_high=None), most=1.0)
    c = account_for_looks(open_ended, _looked()).comparison
    assert (c.ci_low, c.ci_high) == (None, None)
    below = replace(measured.comparison, difference=-0.1, ci_low=-0.16, ci_high=-0.04)
    assert account_for_looks(Measured(below, most=0.15), _looked()).comparison.ci_low == -0.15
    endless = replace(measured.comparison, ci_low=-math.inf, ci_high=math.inf)
    c = account_for_looks(Measured(endless), _looked()).comparison
    assert (c.ci_low, c.ci_high) == (None, None)
