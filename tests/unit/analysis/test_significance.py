"""Tests of paired differences, against closed forms and scipy, and Holm's adjustment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.families import tests_left as left
from seedbed.analysis.significance import holm, mcnemar_exact, mcnemar_p, sign_flip_p


def column(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def test_mcnemar_does_not_care_which_system_comes_first() -> None:
    assert mcnemar_exact(3, 11) == mcnemar_exact(11, 3)


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_holm_stops_at_one() -> None:
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_holm_leaves_out_what_was_not_tested() -> None:
    assert holm([None, 0.02, None]) == [None, 0.02, None]


def test_the_level_of_a_test_is_shared_with_those_that_holm_has_left() -> None:
    assert left([0.2, None, 0.001, 0.03]) == [1, 1, 3, 2]


def test_the_permutation_test_of_few_pairs_tries_every_sign() -> None:
    differences = [0.5, 0.25, -0.125, 1.0, 0.75]
    total = abs(sum(differences))
    signs = itertools.product((1, -1), repeat=5)
    expected = np.mean([abs(sum(s * d for s, d in zip(row, differences, strict=True))) >= total for row in signs])
    assert sign_flip_p(column(differences)) == [pytest.approx(expected)]


def test_the_permutation_test_of_many_pairs_agrees_with_scipy() -> None:
    values = np.random.default_rng(5).normal(0.4, 1, 60)
    own = sign_flip_p(column(values.tolist()), flips=20_000)[0]
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    ).pvalue
    assert own == pytest.approx(theirs, abs=0.01)


def test_no_difference_at_all_is_no_evidence() -> None:
    assert sign_flip_p(np.zeros((30, 1))) == [1.0]


def test_what_rounding_leaves_of_a_total_of_nothing_is_no_evidence() -> None:
    """Thirds of three seeds that cancel: their sum is 1e-17 or so, and no flip of signs may count as less."""
    values = [1 / 3, 1 / 3, -2 / 3] * 10
    noisy = [value + (1e-16 if place % 2 else 0) for place, value in enumerate(values)]
    assert sign_flip_p(column(noisy), flips=999) == [1.0]


def test_a_p_from_random_signs_is_never_zero() -> None:
    assert 0 < sign_flip_p(np.ones((200, 1)))[0] < 0.001


def test_mcnemar_counts_only_pairs_that_differ() -> None:
    assert mcnemar_p(column([1.0] * 10 + [-1.0] * 2 + [0.0] * 500)) == pytest.approx([0.03857421875])


def test_the_sign_flip_of_rates_is_mcnemar() -> None:
    differences = column([1.0] * 9 + [-1.0] * 3)
    assert sign_flip_p(differences) == pytest.approx(mcnemar_p(differences).tolist())


@pytest.mark.parametrize(("only_a", "only_b", "p"), [(0, 0, 1.0), (0, 6, 2 / 64), (6, 0, 2 / 64), (1, 6, 16 / 128)])
def test_mcnemar_is_both_tails_of_so_many_throws_of_a_coin(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar_exact(only_a, only_b) == pytest.approx(p)


@pytest.mark.parametrize(("only_a", "only_b"), [(-1, 3), (3, -1)])
def test_counts_below_nothing_are_refused(only_a: int, only_b: int) -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        mcnemar_exact(only_a, only_b)


def test_thirteen_that_differ_have_an_exact_p_and_fourteen_a_random_one() -> None:
    """All one way: two of all patterns are as far from 0; of 99 random ones none is, and the one seen counts."""
    found = sign_flip_p(np.stack([np.ones(14), np.r_[np.ones(13), 0.0], np.zeros(14)], axis=1), flips=99)
    assert found == pytest.approx([0.01, 2 / 2**13, 1.0])


def test_one_that_differs_is_no_evidence() -> None:
    assert sign_flip_p(column([0.0, 0.7, 0.0])) == [1.0]


def test_random_signs_are_the_same_each_time_and_others_where_others_are_asked_for() -> None:
    values = column(np.random.default_rng(2).normal(0.3, 1, 40).tolist())
    assert sign_flip_p(values) == sign_flip_p(values, 0)
    assert sign_flip_p(values) != sign_flip_p(values, 1)


def test_random_signs_of_wins_and_losses_come_close_to_mcnemar() -> None:
    """Many patterns are just as far from 0 as the one seen."""
    differences = column([1.0] * 12 + [-1.0] * 4)
    assert sign_flip_p(differences, flips=20_000) == pytest.approx(mcnemar_p(differences).tolist(), abs=0.008)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("triples", [4, 10])
def test_rounding_is_measured_by_what_was_summed_up(triples: int, unit: float) -> None:
    """Tenths that cancel, but for what floats leave of them, in whatever unit: no pattern is nearer to 0."""
    values = [0.1 * unit, 0.2 * unit, -0.3 * unit] * triples
    noisy = [value + (1e-15 * unit if place % 2 else 0) for place, value in enumerate(values)]
    assert sign_flip_p(column(noisy), flips=99) == [1.0]


def test_the_largest_p_comes_last_and_takes_no_other_along() -> None:
    assert holm([0.2, 0.01, None, 0.04]) == pytest.approx([0.2, 0.03, None, 0.08])
