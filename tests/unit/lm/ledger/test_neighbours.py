"""What earlier samples tell of those to come."""

from __future__ import annotations

import pytest

from seedbed.lm.ledger.neighbours import Neighbours, Taken

TWO = Neighbours(
    {"a": {"m": Taken(1, 10, 30)}, "b": {"m": Taken(3, 15, 35), "judge": Taken(1, 20, 10)}}, latencies=[0.5]
)


def test_the_mean_sample_is_a_mean_over_all_samples_also_those_that_did_not_ask_a_model() -> None:
    assert TWO.mean() == {"m": Taken(2, 12.5, 32.5), "judge": Taken(0.5, 10, 5)}


def test_a_sample_that_was_asked_before_is_its_own_neighbour() -> None:
    assert TWO.of("a") == {"m": Taken(1, 10, 30)}
    assert TWO.of("new") == TWO.of(None) == TWO.mean()


def test_the_spread_is_that_of_all_tokens_of_a_sample() -> None:
    assert TWO.spread == pytest.approx(800**0.5 / 60)  # of 40 and 80
    assert Neighbours({"a": {"m": Taken(1, 10, 30)}}, []).spread == 0.0
    assert Neighbours({}, []).spread == 0.0
