"""Contests that grow: what a look sees, and what it decides over a family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.contests import Contest, Figures, Looked, contest_figures, decide
from seedbed.analysis.seeds import seed_spread
from seedbed.analysis.spending import boundaries
from seedbed.analysis.stopping import sequential


def _seen(*zs: float | None) -> list[Figures]:
    return [Figures(40 * k, 40 * k, 0.1, 0.05, z) for k, z in enumerate(zs, start=1)]


def test_without_clusters_it_is_students_t_on_the_normal_scale() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, 60)
    found = contest_figures(values, np.zeros(60))
    tested: Any = stats.ttest_1samp(values, 0)
    assert found.z == pytest.approx(float(stats.norm.isf(tested.pvalue / 2)))
    assert (found.n, found.n_clusters) == (60, 60)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(60))
    turned = contest_figures(np.zeros(60), values)
    assert turned.z == pytest.approx(-(found.z or 0))


def test_samples_of_a_cluster_count_together() -> None:
    shared = np.repeat(np.random.default_rng(1).normal(0.3, 1.0, 20), 5)
    clusters = np.repeat(np.arange(20), 5).tolist()
    alone, together = contest_figures(shared, np.zeros(100)), contest_figures(shared, np.zeros(100), clusters=clusters)
    assert alone.z is not None
    assert together.z is not None
    assert alone.z > 1.5 * together.z
    assert together.n_clusters == 20


def test_few_samples_cannot_say_more_than_their_signs() -> None:
    alike = np.array([0.5, 0.5001, 0.4999, 0.5, 0.5002])
    found = contest_figures(alike, np.zeros(5))
    assert found.z == pytest.approx(float(stats.norm.isf(2.0**-5)))


def test_where_seeds_make_another_system_they_have_a_say() -> None:
    rng = np.random.default_rng(2)
    own = rng.normal(0.1, 0.2, (200, 3)) + np.array([-0.2, 0.0, 0.2])
    sure, unsure = (contest_figures(own, np.zeros((200, 3)), seed_changes_system=flag) for flag in (False, True))
    assert sure.z is not None
    assert unsure.z is not None
    assert abs(unsure.z) < 0.5 * abs(sure.z)
    assert contest_figures(own[:, :1], np.zeros((200, 1)), seed_changes_system=True).z is None, "one seed tells nothing"


def test_what_is_missing_is_no_pair_and_no_spread_is_no_test() -> None:
    own = np.array([0.1, np.nan, 0.4, 0.9])
    assert contest_figures(own, np.zeros(4)).n == 3
    ties = contest_figures(np.ones(30), np.ones(30))
    assert (ties.n, ties.difference, ties.z, ties.error) == (30, 0.0, None, None)
    assert contest_figures([0.1], [0.0]).z is None


def test_a_contest_is_decided_at_the_limit_of_its_look() -> None:
    design = sequential(0.15)
    for number in (2, 5, 9):
        limit = boundaries(10, 0.05)[number - 1]
        before = [0.5] * (number - 1)
        assert decide(design, [Contest(_seen(*before, limit + 0.01), number / 10)], number) == ["better"]
        assert decide(design, [Contest(_seen(*before, -limit - 0.01), number / 10)], number) == ["worse"]
        assert decide(design, [Contest(_seen(*before, limit - 0.01), number / 10)], number) == ["go on"]


def test_the_last_look_ends_it_and_what_is_decided_stays() -> None:
    design = sequential(0.15)
    assert decide(design, [Contest(_seen(*[0.1] * 10), 1.0)], 10) == ["futile"]
    assert decide(design, [Contest(_seen(4.9), 0.1, "futile")], 3) == ["futile"]
    assert decide(design, [Contest(_seen(None), 0.1)], 1) == ["go on"]
    assert decide(design, [Contest(_seen(*[None] * 10), 1.0)], 10) == ["futile"]


def test_it_is_futile_where_the_difference_that_matters_would_hardly_be_found() -> None:
    nothing = [Contest(_seen(*[0.0] * 7), 0.7)]
    assert decide(sequential(0.01), nothing, 7) == ["futile"]
    assert decide(sequential(0.6), nothing, 7) == ["go on"]


def test_a_contest_that_is_found_makes_it_easier_for_the_others() -> None:
    design, number = sequential(0.5), 6
    between = (boundaries(10, 0.05)[5] + boundaries(10, 0.025)[5]) / 2
    clear, close, nothing = (Contest(_seen(*[0.1] * 5, z), 0.6) for z in (6.0, between, 0.2))
    assert decide(design, [clear, close], number) == ["better", "better"]
    assert decide(design, [nothing, close], number) == ["go on", "go on"]
    assert decide(design, [clear, close], number, others=1) == ["better", "go on"], "a test that is still to come"


def test_two_clusters_are_enough_for_a_test_and_one_is_not() -> None:
    found = contest_figures([0.2, 0.4, 0.4, 0.6], [0.0, 0.1, 0.2, 0.2], clusters=[0, 0, 1, 1])
    assert (found.n, found.n_clusters) == (4, 2)
    assert found.z == pytest.approx(float(stats.norm.isf(0.25))), "no more than two signs can tell"
    alone = contest_figures([0.2, 0.4], [0.0, 0.1], clusters=[0, 0])
    assert (alone.n, alone.n_clusters, alone.difference, alone.error, alone.z) == (2, 1, None, None, None)


def test_over_seeds_the_least_sure_of_samples_both_and_seeds_counts() -> None:
    rng = np.random.default_rng(3)
    base = rng.uniform(0.4, 0.6, (60, 4))
    own = base + rng.normal(0.1, 0.3, (60, 1)) + np.array([-0.05, 0.0, 0.02, 0.05])
    found = contest_figures(own, base, seed_changes_system=True)
    spread = seed_spread((own - base)[:, :, None], np.arange(60))
    mean = (own - base).mean()
    by_seeds = [float(stats.norm.isf(stats.t.sf(mean / error[0], degrees[0]))) for error, degrees in spread.errors()]
    over_samples = contest_figures(own, base).z
    assert over_samples is not None
    assert found.z is not None
    assert found.z == pytest.approx(min(over_samples, *by_seeds))
    assert found.z < over_samples
    turned = contest_figures(base, own, seed_changes_system=True)
    assert turned.z == pytest.approx(-found.z)


@pytest.mark.parametrize(("z", "higher"), [(3.0, True), (0.5, True), (0.0, False), (-0.5, False), (-3.0, False)])
def test_a_system_is_above_its_baseline_where_its_surest_look_says_so(z: float, higher: bool) -> None:
    assert Contest(_seen(z), 0.1).higher(10) is higher


def test_the_surest_look_speaks_for_all() -> None:
    assert Contest(_seen(-0.2, 4.0, -2.0), 0.3).higher(10)
    assert not Contest(_seen(0.2, -4.0, 2.0), 0.3).higher(10)


def test_what_was_asked_in_full_is_not_open() -> None:
    looked = Looked("f1", 10, _seen(0.1), "go on", asked=400, planned=400)
    assert looked.words("f1") == "all 400 asked: not decided"
    assert replace(looked, asked=399).words("f1") == "open after 399 of 400"


def test_a_p_of_the_level_itself_decides_nothing() -> None:
    contest = Contest(_seen(0.5, 4.5), 0.2)
    p = contest.p(10)
    assert p is not None
    assert decide(sequential(5.0, alpha=p), [contest], 2) == ["go on"]
    assert decide(sequential(5.0, alpha=p * 1.001), [contest], 2) == ["better"]


def _futile_beyond(limit: float) -> Contest:
    """Of seven looks in ten: hopeless where the last limit lies further out than this one."""
    z, error, share = 0.5, 0.05, 0.7
    drift = limit + float(stats.norm.ppf(0.1)) * np.sqrt(1 - share) - z * np.sqrt(share)
    seen = [Figures(40 * k, 40 * k, 0.1, error, z) for k in range(1, 8)]
    return Contest(seen, share, difference=drift * error * np.sqrt(share) / (1 - share))


CLEAR, NOTHING, UNTESTED = (Contest(_seen(*[z] * 7), 0.7) for z in (9.0, 0.2, None))


@pytest.mark.parametrize(
    ("family", "others", "left"),
    [
        ([], 0, 1),
        ([NOTHING], 0, 2),
        ([CLEAR], 0, 1),
        ([UNTESTED], 0, 1),
        ([], 2, 3),
        ([NOTHING, CLEAR, UNTESTED], 1, 3),
        ([CLEAR, CLEAR], 1, 2),
    ],
)
def test_hope_is_measured_at_the_last_limit_of_the_tests_that_are_left(
    family: list[Contest], others: int, left: int
) -> None:
    """Those found are no test any more, those without a test never were, those to come are."""
    last = boundaries(10, 0.05 / left)[-1]
    for limit, decision in ((last + 0.01, "go on"), (last - 0.01, "futile")):
        assert decide(sequential(0.1), [_futile_beyond(limit), *family], 7, others)[0] == decision


def test_a_contest_at_the_level_itself_is_left() -> None:
    """Of two the surer is adjusted to twice its p."""
    close = Contest(_seen(*[0.5] * 6, 2.9), 0.7)
    p = close.p(10)
    assert p is not None
    last = boundaries(10, p)[-1]
    for limit, decision in ((last + 0.01, "go on"), (last - 0.01, "futile")):
        assert decide(sequential(5.0, alpha=2 * p), [_futile_beyond(limit), close], 7) == [decision, "go on"]


def test_a_family_of_contests_that_are_all_found_has_nothing_left() -> None:
    assert decide(sequential(0.1), [CLEAR, CLEAR], 7) == ["better", "better"]
