"""Which samples are labelled first, and with which chance each was drawn."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis.label_draw import chances, draw_numbers, known_sizes, order, own_number, sizes

NAN = np.nan


def test_a_samples_number_comes_from_the_salt_and_its_id_and_stays_as_it_is() -> None:
    """The first sixteen digits of `printf 'salt\\0sample-1' | sha256sum`."""
    assert own_number("salt", "sample-1") == pytest.approx(0x6BBD6F9558205FF6 / 16**16, rel=1e-15)
    assert own_number("salt", "sample-1") != own_number("other", "sample-1")
    assert draw_numbers("salt", ["a", "b"]).tolist() == [own_number("salt", "a"), own_number("salt", "b")]


def test_a_size_is_half_the_same_for_all_and_half_the_share_of_the_mean_doubt() -> None:
    """A mean doubt of 0.2: half and twice as much of it."""
    assert sizes(np.array([0.1, 0.1, 0.4])).tolist() == pytest.approx([0.75, 0.75, 1.5])


def test_of_a_doubt_no_more_than_three_times_the_mean_counts() -> None:
    """Nine samples without a doubt, one with ten times the mean: sizes 0.5 and 2, over their mean of 0.65."""
    assert sizes(np.array([0.0] * 9 + [1.0])).tolist() == pytest.approx([0.5 / 0.65] * 9 + [2.0 / 0.65])


def test_an_unknown_doubt_is_a_mean_one_and_one_below_nothing_is_none() -> None:
    """Doubts 0, 0.4 and one not known: sizes 0.5, 1.5 and 1, whose mean is 1."""
    assert sizes(np.array([0.0, 0.4, NAN])).tolist() == pytest.approx([0.5, 1.5, 1.0])
    assert sizes(np.array([-7.0, 0.4, NAN])).tolist() == pytest.approx([0.5, 1.5, 1.0])


@pytest.mark.parametrize("doubt", [[NAN, NAN], [0.0, 0.0], [-1.0, 0.0], []])
def test_where_nothing_is_doubted_all_sizes_are_equal(doubt: list[float]) -> None:
    assert sizes(np.array(doubt)).tolist() == [1.0] * len(doubt)


def test_a_doubt_however_small_is_one() -> None:
    assert sizes(np.array([0.0, 1e-6])).tolist() == pytest.approx([0.5, 1.5])


def test_samples_are_taken_by_number_over_size_and_equals_as_they_stand() -> None:
    assert order(np.array([0.5, 0.2, 0.6]), np.array([1.0, 1.0, 4.0])).tolist() == [2, 1, 0]
    assert order(np.full(40, 0.5), np.ones(40)).tolist() == list(range(40))


@pytest.mark.parametrize(
    ("taken", "expected"),
    [(0, [0.1, 0.2, 0.4]), (1, [0.3, 0.6, 1.0]), (2, [0.5, 1.0, 1.0]), (3, [1.0, 1.0, 1.0]), (4, [1.0, 1.0, 1.0])],
)
def test_a_chance_is_the_size_times_the_rank_of_the_first_that_was_not_taken(taken: int, expected: list[float]) -> None:
    """Ranks 0.5, 0.3 and 0.1."""
    numbers, size = np.array([0.5, 0.6, 0.4]), np.array([1.0, 2.0, 4.0])
    assert chances(numbers, size, taken).tolist() == pytest.approx(expected)


def test_a_sample_that_came_after_the_draw_has_the_mean_size() -> None:
    assert known_sizes(["a", "new", "b"], {"a": 0.5, "b": 1.5}).tolist() == [0.5, 1.0, 1.5]
