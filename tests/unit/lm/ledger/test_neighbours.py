"""What earlier samples tell of those to come."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.neighbours import Neighbours, Taken, neighbours
from tests.unit.lm.ledger.conftest import FAILED, attempt, put

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


def test_one_sample_is_its_own_mean_and_none_have_no_mean() -> None:
    assert Neighbours({"a": {"m": Taken(2, 10, 30)}}, []).mean() == {"m": Taken(2, 10, 30)}
    assert Neighbours({}, []).mean() == {}


def test_samples_that_took_no_tokens_have_no_spread() -> None:
    assert Neighbours({name: {"m": Taken(1, 0, 0)} for name in "ab"}, []).spread == 0.0


def test_each_request_of_a_sample_counts_once_a_cell_and_cells_are_averaged(engine: Engine) -> None:
    put(
        engine,
        attempt(1, cell="a", sample="x", key="k1", latency_s=1.5),
        attempt(2, cell="a", sample="x", key="k1", outcome="reused", latency_s=7.0),
        attempt(3, cell="a", sample="x", key="k2", tokens_in=20, tokens_out=5, latency_s=None),
        attempt(4, cell="b", sample="x", key="k1", tokens_in=30, tokens_out=6, latency_s=2.5),
        attempt(5, cell="b", sample=None, key="k3", outcome="reused", latency_s=None),
        attempt(6, cell="b", sample="y", model="judge", key="k4"),
        attempt(7, cell="b", sample="y", key="k5", **FAILED),
        attempt(8, cell="b", sample="y", key="k6", phase="scores"),
        attempt(9, cell="another", sample="x"),
    )
    found = neighbours(engine, ["a", "b"], "generate")
    assert found.samples == {
        "x": {"m": Taken(1.5, 30.0, 6.5)},
        "": {"m": Taken(1.0, 10.0, 2.0)},
        "y": {"judge": Taken(1.0, 10.0, 2.0)},
    }
    assert sorted(found.latencies) == [1.0, 1.5, 2.5]


def test_cells_of_any_number_are_neighbours(engine: Engine) -> None:
    chosen = [0, 1, 499, 500, 999, 1000]
    put(engine, *(attempt(number, cell=f"c{number}", sample=f"x{number}") for number in chosen))
    found = neighbours(engine, [f"c{number}" for number in range(1001)], "generate")
    assert set(found.samples) == {f"x{number}" for number in chosen}
