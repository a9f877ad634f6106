"""`detectable` is found as often as it says, at the level that Holm leaves and by the test that is made."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis import compare_paired
from seedbed.analysis.columns import Columns
from seedbed.analysis.paired import paired_columns
from seedbed.analysis.power import Sized, detectable

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
