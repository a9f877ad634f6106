"""`detectable` is found as often as it says, at the level that Holm leaves and by the test that is made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis import compare_paired
from seedbed.analysis.columns import Columns
from seedbed.analysis.paired import paired_columns
from seedbed.analysis.power import Sized, detectable, sign_flip_multiple

RNG = np.random.default_rng
SWEEPS = 1500


def _power(differences: np.ndarray, level: float, *, exact: bool) -> float:
    columns = Columns.of(differences, np.arange(len(differences)))
    k = differences.shape[1]
    found = paired_columns(columns, [(0.0, 1.0)] * k, [exact] * k, flips=1999)
    return float((found.p < level).mean())


@pytest.mark.parametrize("tests", [1, 5, 20])
def test_right_or_wrong_answers(tests: int) -> None:
    """Of 200 pairs a fifth differ."""
    differing = np.where(np.arange(200) < 40, np.where(np.arange(200) < 20, 1.0, -1.0), 0.0)
    least = compare_paired(np.maximum(differing, 0), np.maximum(-differing, 0), kind="rate", tests_in_family=tests)
    assert least.detectable is not None
    share = 41 / 201
    drawn = RNG(1).random((200, SWEEPS))
    moved = np.where(drawn < (share + least.detectable) / 2, 1.0, np.where(drawn < share, -1.0, 0.0))
    assert 0.77 <= _power(moved, 0.05 / tests, exact=True) <= 0.83


@pytest.mark.parametrize("tests", [1, 5])
def test_scores_between_0_and_1(tests: int) -> None:
    noise = RNG(2).normal(0, 0.3, (100, SWEEPS)) * (RNG(3).random((100, SWEEPS)) > 0.4)
    pilot = noise[:, 0]
    least = compare_paired(np.clip(0.5 + pilot, 0, 1), np.full(100, 0.5), tests_in_family=tests).detectable
    assert least is not None
    least *= noise.std() / np.clip(pilot, -0.5, 0.5).std(ddof=1)
    assert 0.76 <= _power(noise + least, 0.05 / tests, exact=False) <= 0.84


def test_few_clusters_take_more_than_students_t_says() -> None:
    """Six of them are significant only if all go one way."""
    sized = Sized(n=6, n_clusters=6, n_differ=6, step=1.0, errors=[(1 / 6**0.5, 5.0)], most=10.0)
    least = detectable(sized, 0.05)
    assert least is not None
    draws = RNG(4).normal(least, 1, (4000, 6))
    assert 0.76 <= float((np.sign(draws).sum(axis=1) == 6).mean()) <= 0.84


def test_it_is_blank_where_no_result_could_be_significant() -> None:
    sized = Sized(n=5, n_clusters=5, n_differ=5, step=1.0, errors=[(0.01, 4.0)], most=1.0)
    assert detectable(sized, 0.05) is None
    assert detectable(sized, 0.1) is not None


def test_it_is_blank_where_it_would_leave_the_range() -> None:
    assert detectable(Sized(9, 9, 9, 1.0, [(0.9, 8.0)], 1.0), 0.05) is None


def _sized(errors: list[tuple[float, float]], **more: object) -> Sized:
    given: dict[str, object] = {"n": 60, "n_clusters": 60, "n_differ": 60, "step": 0.0, "most": 1.0, "test": "flips"}
    return Sized(errors=errors, **{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(("level", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_with_many_degrees_of_freedom_it_is_two_quantiles_of_students_t(level: float, power: float) -> None:
    expected = (stats.t.ppf(1 - level / 2, 51) + stats.t.ppf(power, 51)) * 0.02
    assert detectable(_sized([(0.02, 51.0)], test="t"), level, power) == pytest.approx(expected)


@pytest.mark.parametrize("degrees", [3, 20, 50])
def test_with_few_degrees_of_freedom_the_noncentral_t_has_the_power(degrees: int) -> None:
    """Of an error that half of all studies would exceed."""
    least = detectable(_sized([(0.02, float(degrees))], test="t"), 0.05)
    assert least is not None
    median = np.sqrt(stats.chi2.median(degrees) / degrees)
    reached = stats.nct.sf(stats.t.ppf(0.975, degrees), degrees, least / 0.02 * median)
    assert reached == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize("kind", ["t", "flips"])
def test_the_largest_demand_counts(kind: str) -> None:
    small, large = (0.01, 80.0), (0.02, 80.0)
    alone = detectable(_sized([large], test=kind), 0.05)
    assert alone is not None
    for errors in ([small, large], [large, small]):
        assert detectable(_sized(errors, test=kind), 0.05) == alone
    assert detectable(_sized([], test="t"), 0.05) is None


@pytest.mark.parametrize(("level", "needed"), [(0.05, 6), (0.02, 7), (0.0625, 6), (0.25, 4)])
def test_so_many_clusters_must_differ_before_any_p_is_below_the_level(level: float, needed: int) -> None:
    """All of k one way have a p of 2 ** (1 - k)."""
    assert 2.0 ** (1 - needed) < level <= 2.0 ** (2 - needed)
    least = detectable(_sized([(1e-9, 59.0)], step=0.5), level)
    assert least is not None
    assert stats.binom.sf(needed - 1, 60, least / 0.5) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(
    ("clusters", "level", "known"),
    [(1, 0.9, False), (5, 0.0625, False), (5, 0.0626, True), (9, 1 / 256, False), (9, 1 / 255, True)],
)
def test_a_p_that_cannot_be_below_the_level_detects_nothing(clusters: int, level: float, known: bool) -> None:
    sized = _sized([(0.001, 4.0)], n=clusters, n_clusters=clusters, n_differ=clusters)
    assert (detectable(sized, level) is not None) is known


def test_students_t_takes_two_clusters() -> None:
    assert detectable(_sized([(0.001, 1.0)], n_clusters=2, test="t"), 0.05) is not None
    assert detectable(_sized([(0.001, 1.0)], n_clusters=1, test="t"), 0.05) is None


def test_the_end_of_the_range_is_still_in_it_and_nothing_detects_nothing() -> None:
    least = detectable(_sized([(0.02, 80.0)], test="t", most=float("inf")), 0.05)
    assert least is not None
    assert detectable(_sized([(0.02, 80.0)], test="t", most=least), 0.05) == least
    assert detectable(_sized([(0.02, 80.0)], test="t", most=least * 0.999), 0.05) is None
    assert detectable(_sized([(0.0, 80.0)], test="t"), 0.05) is None
    assert detectable(_sized([(0.02, 80.0)], test="t", deviation=0.0), 0.05) is None


@pytest.mark.parametrize(("clusters", "tried"), [(8, True), (9, False)])
def test_up_to_eight_clusters_are_tried_out(clusters: int, tried: bool) -> None:
    """Eight normal values and all their signs: some other demand than Student's t makes."""
    sized = _sized([(1 / clusters**0.5, clusters - 1.0)], n=clusters, n_clusters=clusters, most=10.0)
    by_t = detectable(_sized([(1 / clusters**0.5, clusters - 1.0)], test="t", most=10.0), 0.01)
    least = detectable(sized, 0.01)
    assert least is not None
    assert by_t is not None
    if not tried:
        assert least == by_t
        return
    draws = RNG(9).normal(least, 1, (3000, clusters))
    signs = 1.0 - 2.0 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    seen = np.abs(draws.sum(axis=1, keepdims=True))
    p = (np.abs(draws @ signs.T) >= seen - 1e-9).mean(axis=1)
    assert 0.77 <= float((p < 0.01).mean()) <= 0.84


def _mcnemar_power(n: int, differing: float, difference: float, level: float) -> float:
    """Summed up over all numbers of pairs that differ, and of losses among them."""
    power = 0.0
    for k in range(n + 1):
        losses = np.arange(k + 1)
        p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(losses, k - losses), k, 0.5))
        chance = stats.binom.pmf(losses, k, 0.5 - difference / differing / 2)
        power += stats.binom.pmf(k, n, differing) * chance[p < level].sum()
    return float(power)


@pytest.mark.parametrize(
    ("n", "n_differ", "level", "power"),
    [
        (30, 6, 0.05, 0.8),
        (40, 0, 0.05, 0.8),
        (25, 25, 0.05, 0.8),
        (90, 80, 0.05, 0.8),
        (8, 2, 0.0625, 0.8),
        (30, 20, 0.2, 0.25),
    ],
)
def test_mcnemars_power_is_the_sum_over_all_outcomes(n: int, n_differ: int, level: float, power: float) -> None:
    sized = _sized([(0.01, 20.0)], n=n, n_clusters=n, n_differ=n_differ, test="mcnemar")
    least = detectable(sized, level, power)
    assert least is not None
    differing = max((n_differ + 1) / (n + 1), least)
    assert _mcnemar_power(n, differing, least, level) == pytest.approx(power, abs=1e-4)


def test_only_pairs_that_all_differ_one_way_are_found_for_certain() -> None:
    sized = _sized([(0.01, 9.0)], n=10, n_clusters=10, n_differ=3, test="mcnemar")
    assert detectable(sized, 0.05, power=1.0) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("clusters", [5, 6])
def test_signs_that_must_all_be_alike_are_tried_out_on_draws_that_never_change(clusters: int) -> None:
    """Of a thousand, the shift that lifts eight hundred above 0 in all of their clusters."""
    least = 2.0 ** (1 - clusters)
    draws = RNG(0).standard_normal((1000, clusters))
    expected = np.sort(-draws.min(axis=1))[799]
    for level in (1.01 * least, 2 * least):
        assert sign_flip_multiple(clusters, level) == pytest.approx(expected, abs=1e-5), "a p at the level is not below"
    assert sign_flip_multiple(clusters, least) == np.inf
    assert sign_flip_multiple(clusters, 2.01 * least) < 0.99 * expected


def test_of_few_clusters_the_first_error_is_that_of_one() -> None:
    """The mean of six varies by the root of six less than each."""
    sized = _sized([(0.1, 5.0), (0.01, 5.0)], n_clusters=6, most=10.0)
    assert detectable(sized, 0.05) == pytest.approx(sign_flip_multiple(6, 0.05) * 0.1 * np.sqrt(6))


def test_without_any_error_it_is_the_clusters_that_must_differ() -> None:
    """Six of six, in four of five studies."""
    assert detectable(_sized([], n_clusters=6, step=0.5), 0.05) == pytest.approx(0.5 * 0.8 ** (1 / 6), abs=1e-6)


def test_an_error_that_is_larger_than_the_deviation_only_moves_the_limit() -> None:
    limit = stats.t.ppf(0.975, 80) * 0.03
    expected = limit + stats.t.ppf(0.8, 80) * 0.02
    assert detectable(_sized([(0.03, 80.0)], test="t", deviation=0.02), 0.05) == pytest.approx(expected)
    with_nothing = _sized([(0.03, 80.0), (0.0, 3.0)], test="t", deviation=0.02)
    assert detectable(with_nothing, 0.05) == pytest.approx(expected), "seeds that are all alike ask for no more"


def test_with_few_degrees_too_the_deviation_is_what_varies() -> None:
    least = detectable(_sized([(0.03, 6.0)], test="t", deviation=0.02), 0.05)
    assert least is not None
    median = np.sqrt(stats.chi2.median(6) / 6)
    limit = stats.t.ppf(0.975, 6) * 0.03 / 0.02
    assert stats.nct.sf(limit, 6, least / 0.02 * median) == pytest.approx(0.8, abs=1e-4)
