"""What a pilot promises: the samples that the test to come needs, and what so many could see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from seedbed.analysis.pilot import Parts, samples_needed, variance_parts
from seedbed.analysis.planned import MOST, Pilot, pilot


def test_without_seeds_it_is_the_textbooks_number_with_students_t() -> None:
    own = np.random.default_rng(1).normal(0.0, 0.4, 300)
    book = samples_needed(own, np.zeros(300), difference=0.1, seeds=1)
    found = pilot(own, np.zeros(300)).needed(0.1, 1)
    assert book is not None
    assert found.n == pytest.approx(book[0], rel=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.n is not None
    assert found.low < found.n < found.high


def test_what_a_number_could_see_is_what_the_number_is_planned_for() -> None:
    own = np.random.default_rng(2).normal(0.0, 0.4, (200, 3))
    for made in (False, True):
        seen = pilot(own, np.zeros((200, 3)), seed_changes_system=made)
        planned = seen.needed(0.08, 5)
        assert planned.n is not None
        assert seen.detectable(planned.n, 5) == pytest.approx(0.08, rel=0.02)


def test_seeds_that_only_draw_answers_never_ask_for_more_seeds() -> None:
    own = np.random.default_rng(3).normal(0, 0.2, (100, 3)) + np.array([-0.05, 0.0, 0.05])
    assert pilot(own, np.zeros((100, 3))).needed(0.03, 3).n is not None
    made = pilot(own, np.zeros((100, 3)), seed_changes_system=True)
    assert made.needed(0.03, 3).n is None, "seeds differ too much"
    assert made.needed(0.03, 200).n is not None


@pytest.mark.parametrize("seeds", [2, 5, 40])
@pytest.mark.parametrize("apart", [0.0, 0.05, 0.5])
def test_in_other_units_it_is_the_same(apart: float, seeds: int) -> None:
    rng = np.random.default_rng(6)
    own = rng.normal(0, 0.3, (80, 4)) + rng.normal(0, 0.2, 80)[:, None] + rng.normal(0, apart, 4)
    seen, large = (pilot(own * unit, np.zeros((80, 4)), seed_changes_system=True) for unit in (1, 100))
    for n in (20, 400):
        assert large.detectable(n, seeds) == pytest.approx(100 * seen.detectable(n, seeds), rel=1e-6)


def test_one_seed_of_an_optimizer_is_blind() -> None:
    own = np.random.default_rng(4).normal(0, 0.2, 50)
    seen = pilot(own, np.zeros(50), seed_changes_system=True)
    assert seen.blind
    assert seen.needed(0.1, 1).n is None
    assert not pilot(own, np.zeros(50)).blind


def test_more_contests_take_more_samples_and_clusters_too() -> None:
    own = np.repeat(np.random.default_rng(5).normal(0, 0.3, 60), 4)
    alone, five = (pilot(own, np.zeros(240), tests_in_family=m).needed(0.1, 1).n for m in (1, 5))
    clusters = np.repeat(np.arange(60), 4).tolist()
    whole = pilot(own, np.zeros(240), clusters=clusters).needed(0.1, 1).n
    assert alone is not None
    assert five is not None
    assert whole is not None
    assert five > 1.3 * alone
    assert whole > 3 * alone


def test_a_pilot_of_two_clusters_says_little_and_the_range_of_samples_shows_it() -> None:
    """One degree of freedom is one, not none."""
    clusters = np.repeat([0, 1], 20)
    own = np.random.default_rng(3).normal(0.0, 0.4, 40) + clusters
    found = pilot(own, np.zeros(40), clusters=clusters.tolist()).needed(0.5, 1)
    assert found.low is not None
    assert found.n is not None
    assert found.low < 0.5 * found.n


def _shown(error: float, truly: float, degrees: float, level: float) -> float:
    """What Student's test with such an error shows in four of five sweeps: its limit, and beyond it what the noncentral
    t needs, in units of how the mean varies in truth."""
    limit = stats.t.ppf(1 - level / 2, degrees)
    shift = optimize.brentq(lambda x: stats.nct.sf(limit, degrees, x) - 0.8, limit - 3, 4 * limit + 3, xtol=1e-12)
    return limit * error + (shift - limit) * truly


@pytest.mark.parametrize("level", [0.05, 0.01])
@pytest.mark.parametrize(("clusters", "seeds"), [(3, 1), (40, 3), (1001, 2)])
def test_a_system_that_no_seed_makes_is_tested_over_samples(clusters: int, seeds: int, level: float) -> None:
    seen = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 2.0), made_by_seed=False, level=level)
    error = np.sqrt((0.09 + 0.04 / seeds) / clusters)
    assert seen.detectable(2 * clusters, seeds) == pytest.approx(_shown(error, error, clusters - 1, level), rel=1e-6)


@pytest.mark.parametrize(
    ("parts", "clusters", "seeds", "widest"),
    [
        ((0.09, 1e-4, 0.04), 3, 40, "samples"),
        ((0.09, 0.001, 0.04), 60, 10, "both"),
        ((0.09, 0.02, 0.04), 60, 3, "seeds"),
        ((0.09, 0.02, 0.04), 60, 2, "seeds"),
    ],
)
def test_a_system_that_seeds_make_must_pass_each_of_three_tests(
    parts: tuple[float, float, float], clusters: int, seeds: int, widest: str
) -> None:
    """Over samples, over samples and seeds with the degrees of Satterthwaite, and over seeds."""
    of_samples, of_seeds, rest = parts
    a, b = seeds * of_samples + rest, clusters * of_seeds + rest
    truly = np.sqrt((of_samples + rest / seeds) / clusters + of_seeds / seeds)
    both = (a + b) ** 2 / (a**2 / (clusters - 1) + b**2 / (seeds - 1))
    cells = clusters * seeds
    shown = {
        "samples": _shown(np.sqrt(a / cells), truly, clusters - 1, 0.05),
        "both": _shown(np.sqrt((a + b) / cells), truly, both, 0.05),
        "seeds": _shown(np.sqrt(b / cells), truly, seeds - 1, 0.05),
    }
    assert max(shown, key=lambda name: shown[name]) == widest
    seen = Pilot(Parts(*parts, 50, 4, 1.0), made_by_seed=True)
    assert seen.detectable(clusters, seeds) == pytest.approx(shown[widest], rel=1e-6)


@pytest.mark.parametrize(("made", "seeds"), [(False, 1), (True, 1500)])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_with_more_than_a_thousand_degrees_it_is_two_quantiles_of_the_normal(
    made: bool, seeds: int, level: float
) -> None:
    """Two of the tests over seeds have an error without what varies in truth."""
    seen = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 1.0), made_by_seed=made, level=level)
    truly = np.sqrt((0.09 + 0.04 / seeds) / 1002)
    error = np.sqrt(truly**2 + 0.04 / (1002 * seeds)) if made else truly
    expected = stats.norm.ppf(1 - level / 2) * error + stats.norm.ppf(0.8) * truly
    assert seen.detectable(1002, seeds) == pytest.approx(expected, rel=1e-9)


def test_fewer_than_two_clusters_show_what_two_do() -> None:
    seen = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 3.0), made_by_seed=False)
    assert seen.detectable(1, 1) == seen.detectable(6, 1) > seen.detectable(7, 1)


def test_without_any_spread_any_difference_is_shown() -> None:
    seen = pilot(np.ones((5, 2)), np.zeros((5, 2)), seed_changes_system=True)
    assert seen.detectable(5, 2) == 0.0
    assert seen.needed(1e-9, 2).n == 2


@pytest.mark.parametrize(
    ("parts", "made", "seeds", "difference"),
    [
        (Parts(0.09, 0.0, 0.04, 50, 4, 1.0), False, 1, 0.05),
        (Parts(0.09, 0.0, 0.04, 50, 4, 1.0), False, 1, 0.6),
        (Parts(0.09, 0.0, 0.04, 50, 4, 3.5), False, 4, 0.02),
        (Parts(0.09, 0.002, 0.04, 50, 4, 1.0), True, 5, 0.12),
        (Parts(0.09, 0.0, 0.04, 50, 4, 2.0), True, 2, 0.3),
    ],
)
def test_a_number_shows_the_difference_and_a_little_less_does_not(
    parts: Parts, made: bool, seeds: int, difference: float
) -> None:
    """To a hundredth, or a tenth of a cluster."""
    seen = Pilot(parts, made)
    n = seen.needed(difference, seeds).n
    assert n is not None
    assert seen.detectable(n, seeds) <= difference
    less = int(n - 1 - max(0.1 * parts.per_cluster, 0.01 * n))
    assert less >= 2 * parts.per_cluster
    assert seen.detectable(less, seeds) > difference


def test_what_a_number_shows_exactly_takes_that_number() -> None:
    single = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 1.0), made_by_seed=False)
    assert single.needed(single.detectable(4, 1), 1).n == 4
    pairs = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 2.0), made_by_seed=False)
    assert pairs.needed(pairs.detectable(5, 1), 1).n == 5


def test_no_number_is_told_beyond_the_most() -> None:
    seen = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 1.0), made_by_seed=False)
    least = seen.detectable(MOST, 1)
    assert seen.needed(least, 1).n == pytest.approx(MOST, rel=0.01)
    assert seen.needed(least * 0.9999, 1).n is None


@pytest.mark.parametrize(("made", "seeds", "known"), [(True, 1, False), (True, 2, True), (False, 1, True)])
def test_one_seed_of_what_seeds_make_shows_nothing(made: bool, seeds: int, known: bool) -> None:
    seen = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 1.0), made)
    assert (seen.needed(1.0, seeds).n is not None) is known


@pytest.mark.parametrize(
    ("made", "pilot_seeds", "blind"), [(True, 1, True), (True, 2, False), (False, 1, False), (False, 2, False)]
)
def test_a_pilot_of_one_seed_is_blind_where_seeds_make_the_system(made: bool, pilot_seeds: int, blind: bool) -> None:
    assert Pilot(Parts(0.09, 0.0, 0.0, 50, pilot_seeds, 1.0), made).blind is blind


@pytest.mark.parametrize(
    ("made", "pilot_seeds", "of_seeds"), [(False, 3, 0.0), (True, 2, 0.004), (True, 3, 0.0), (True, 3, 0.004)]
)
def test_the_ends_of_a_range_are_those_of_the_mean_squares(made: bool, pilot_seeds: int, of_seeds: float) -> None:
    """At the 5% and 95% quantiles of chi-square, which a pilot's mean squares follow."""
    parts = Parts(0.09, of_seeds if made else 0.0, 0.04, 21, pilot_seeds, 1.5)

    def at(quantile: float) -> Parts:
        samples = 20 / stats.chi2.ppf(quantile, 20)
        seeds = (pilot_seeds - 1) / stats.chi2.ppf(quantile, pilot_seeds - 1)
        between = max(0.0, ((21 * parts.seeds + 0.04) * seeds - 0.04) / 21)
        return replace(parts, samples=0.09 * samples, rest=0.04 * samples, seeds=between if made else 0.0)

    def apart(end: Parts, other: Parts, seeds: int) -> Parts:
        """With the rest at its other end: the mean square of samples says less of it, or more, of the samples."""
        samples = (pilot_seeds * end.samples + end.rest - other.rest) / pilot_seeds
        return replace(end, samples=max(samples, (end.rest - other.rest) / seeds), rest=other.rest)

    few, many = at(0.95), at(0.05)
    for difference in (0.12, 0.3, 0.7):
        for seeds in (2, 20, 300):
            found = Pilot(parts, made).needed(difference, seeds)
            lower, upper = (
                [Pilot(parts, made).needed(difference, seeds).n for parts in (end, apart(end, other, seeds))]
                for end, other in ((few, many), (many, few))
            )
            assert found.low == min((n for n in lower if n is not None), default=None)
            assert found.high == (None if None in upper else max(n for n in upper if n is not None))


@pytest.mark.parametrize("seeds", [3, 10])
@pytest.mark.parametrize(("of_samples", "apart"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.06), (0.02, 0.03)])
def test_the_range_holds_what_is_needed(of_samples: float, apart: float, seeds: int) -> None:
    """In at least 90% of pilots of 60 samples and three seeds, whatever samples and seeds add: what a pilot shows of
    both is more than 0 by chance alone."""
    truth = Pilot(Parts(of_samples, apart**2, 0.16, 60, 3, 1.0), made_by_seed=apart > 0)
    difference = truth.detectable(150, seeds)
    need = truth.needed(difference, seeds).n
    assert need is not None
    rng, held = np.random.default_rng(9), 0
    for _ in range(100):
        own = rng.normal(0, 0.4, (60, 3)) + rng.normal(0, np.sqrt(of_samples), (60, 1)) + rng.normal(0, apart, 3)
        found = pilot(own, np.zeros((60, 3)), seed_changes_system=apart > 0).needed(difference, seeds)
        held += found.low is not None and found.low <= need <= (found.high or MOST)
    assert held >= 90


def test_the_range_of_a_pilot_of_one_seed_is_that_of_its_samples() -> None:
    values = np.random.default_rng(7).normal(0.0, 0.3, 30)
    alone, made = (pilot(values, np.zeros(30), seed_changes_system=made) for made in (False, True))
    assert made.parts == alone.parts
    parts = replace(alone.parts, samples=alone.parts.samples * 29 / stats.chi2.ppf(0.05, 29))
    assert alone.needed(0.1, 1).high == Pilot(parts, made_by_seed=False).needed(0.1, 1).n
    assert made.needed(0.1, 5).high == Pilot(parts, made_by_seed=True).needed(0.1, 5).n


def test_a_pilot_is_the_parts_of_the_difference_and_the_level_that_holm_leaves() -> None:
    rng = np.random.default_rng(8)
    own, base = rng.normal(0.3, 0.3, (30, 3)) + np.array([-0.2, 0.0, 0.2]), rng.normal(0.1, 0.3, (30, 3))
    parts = variance_parts(own - base)
    assert parts.seeds > 0
    assert pilot(own, base) == Pilot(replace(parts, seeds=0.0), made_by_seed=False, level=0.05)
    assert pilot(own, base, seed_changes_system=True) == Pilot(parts, made_by_seed=True, level=0.05)
    assert [pilot(own, base, tests_in_family=tests).level for tests in (0, 1, 2, 5)] == [0.05, 0.05, 0.025, 0.01]


def test_a_number_as_data_names_its_range() -> None:
    found = Pilot(Parts(0.09, 0.0, 0.04, 50, 4, 1.0), made_by_seed=False).needed(0.1, 2)
    assert found.to_json() == {"seeds": 2, "samples": found.n, "low": found.low, "high": found.high}
