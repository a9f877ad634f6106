"""How many calls at once is found out, of servers that are simulated: their time is a number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from random import Random

import pytest

from seedbed.lm import concurrency_search
from seedbed.lm.concurrency_search import ConcurrencySearch

TOP = 16


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(1.0)
    monkeypatch.setattr(concurrency_search.time, "monotonic", lambda: next(ticks))


def _levels(search: ConcurrencySearch, latency: Callable[[int], float], answers: int, spread: float = 0.0) -> list[int]:
    """Where the search was at each answer of a server that takes so long for each of so many at once."""
    random, found = Random(4), list[int]()
    for _ in range(answers):
        took = latency(search.level) * math.exp(random.gauss(0.0, spread))
        search.answered(took, math.inf, TOP)
        found.append(search.level)
    return found


def _slots(number: int) -> Callable[[int], float]:
    return lambda at_once: 10.0 * max(1.0, at_once / number)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_a_server_of_two_slots_is_not_asked_more_for_long(spread: float) -> None:
    levels = _levels(ConcurrencySearch(4), _slots(2), 600, spread)
    assert max(levels) <= 9
    assert sum(level == 4 for level in levels) > 0.7 * len(levels)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_a_server_that_works_on_many_at_once_is_asked_as_much_as_it_can_take(spread: float) -> None:
    assert _levels(ConcurrencySearch(4), _slots(64), 600, spread)[-1] == TOP
    assert _levels(ConcurrencySearch(4), lambda at_once: 10.0 + 0.2 * at_once, 600, spread)[-1] == TOP


def test_a_server_of_eight_slots_has_them_in_use() -> None:
    levels = _levels(ConcurrencySearch(4), _slots(8), 800)
    assert max(levels[300:]) <= 13
    assert sum(6 <= level <= 9 for level in levels[300:]) > 0.7 * len(levels[300:])


def test_what_the_server_tells_is_not_searched_for() -> None:
    search = ConcurrencySearch(4)
    search.told(3)
    assert set(_levels(search, _slots(64), 200)) == {3}


def test_after_a_timeout_fewer_are_tried_for_a_while_and_then_more_again() -> None:
    search = ConcurrencySearch(4)
    search.fall_to(2)
    levels = _levels(search, _slots(64), 400)
    assert set(levels[:50]) == {2}
    assert levels[-1] == TOP


def test_calls_that_were_sent_before_the_last_step_say_nothing_of_it() -> None:
    search = ConcurrencySearch(1)
    for _ in range(12):
        search.answered(10.0, math.inf, TOP)
    assert search.level == 2
    for _ in range(100):
        search.answered(10.0, 0.0, TOP)
    assert search.level == 2
