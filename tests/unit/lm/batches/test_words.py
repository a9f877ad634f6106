"""How batches are spoken of: ages, counts, and what is left running."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.batches.words import batch_line, going_on, in_words
from seedbed.lm.ledger.batch_views import BatchView

REMEDY = "run again to take the answers, or `seedbed batches cancel`"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5.0, "0 s"), (0.0, "0 s"), (0.6, "1 s"), (59.4, "59 s"), (59.6, "1 min"), (60.0, "1 min"),
        (119.0, "1 min"), (120.0, "2 min"), (3599.0, "59 min"), (3600.0, "1 h 0 min"), (7805.0, "2 h 10 min"),
        (90_000.0, "25 h 0 min"),
    ],
)  # fmt: skip
def test_an_age_is_told_in_its_largest_units(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.parametrize(
    ("count", "requests", "said"),
    [
        (1, 1, "1 batch goes on without this process, with 1 request"),
        (1, 2, "1 batch goes on without this process, with 2 requests"),
        (2, 2, "2 batches go on without this process, with 2 requests"),
        (3, 12_000, "3 batches go on without this process, with 12,000 requests"),
    ],
)
def test_what_is_left_running_is_counted_and_says_what_to_do(count: int, requests: int, said: str) -> None:
    assert going_on(count, requests) == f"{said}: {REMEDY}"


def view(**changes: Any) -> BatchView:
    plain: dict[str, Any] = {
        "id": "b1", "provider_id": "batch_1", "model": "openai/loop", "state": "running", "requests": 5000,
        "taken": 4000, "done": 1200, "age_s": 130.0, "ended": False, "at_work": True, "sweeps": ("s", "t"),
    }  # fmt: skip
    return BatchView(**(plain | changes))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "b1 (batch_1): openai/loop, running, 1,200 of 5,000, 2 min for s, t"),
        ({"at_work": False},
         "b1 (batch_1): openai/loop, running, 1,200 of 5,000, 2 min for s, t; no process looks after it"),
        ({"ended": True, "at_work": False, "state": "ended", "error": "expired"},
         "b1 (batch_1): openai/loop, ended, 4,000 of 5,000, 2 min for s, t; expired"),
        ({"provider_id": None, "sweeps": (), "state": "packed", "done": 0, "requests": 3},
         "b1: openai/loop, packed, 0 of 3, 2 min"),
    ],
)  # fmt: skip
def test_a_batch_is_a_line_of_where_it_stands(changes: dict[str, Any], line: str) -> None:
    assert batch_line(view(**changes)) == line
