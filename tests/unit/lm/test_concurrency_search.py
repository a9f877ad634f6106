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


def _judged(search: ConcurrencySearch, took_s: float, top: int = TOP) -> tuple[int, int]:
    """How many answers it was judged by, and where it went. None is sent before the last step."""
    before, number = list(search._took), 0  # pyright: ignore[reportPrivateUsage]
    assert not before
    while True:
        search.answered(took_s, math.inf, top)
        number += 1
        if not search._took:  # pyright: ignore[reportPrivateUsage]
            return number, search.level


@pytest.mark.parametrize(("start", "answers"), [(1, 12), (4, 12), (6, 12), (7, 14), (20, 40)])
def test_a_number_is_judged_by_a_dozen_answers_and_by_two_turns_of_all(start: int, answers: int) -> None:
    search = ConcurrencySearch(start)
    assert _judged(search, 1.0, top=100)[0] == answers


@pytest.mark.parametrize(
    ("start", "above"), [(1, 2), (2, 3), (3, 4), (4, 6), (5, 7), (8, 12), (11, 16), (12, 16), (16, 16), (20, 20)]
)
def test_a_step_is_half_as_many_more_at_least_one_and_not_past_the_top(start: int, above: int) -> None:
    assert _judged(ConcurrencySearch(start), 1.0)[1] == above


@pytest.mark.parametrize(("took_s", "level"), [(0.59, 9), (0.6, 9), (0.61, 4)])
def test_half_of_what_a_step_could_bring_at_best_is_enough(took_s: float, level: int) -> None:
    """From 4 to 6 half as many answers again are the best: a quarter more it must be, 10 a second after 8."""
    search = ConcurrencySearch(4)
    assert _judged(search, 0.5) == (12, 6)
    assert _judged(search, took_s) == (12, level)


def _one_step_too_far() -> ConcurrencySearch:
    search = ConcurrencySearch(4)
    assert _judged(search, 1.0)[1] == 6
    assert _judged(search, 2.0)[1] == 4
    return search


@pytest.mark.parametrize("slower", [0.0, 0.5])
def test_after_a_step_too_far_six_judgements_pass_whatever_they_say(slower: float) -> None:
    search = _one_step_too_far()
    assert [_judged(search, 1.0 + slower * number)[1] for number in range(6)] == [4, 4, 4, 4, 4, 6]


@pytest.mark.parametrize(("fallen", "level"), [(0, 1), (1, 1), (3, 3)])
def test_after_a_refusal_six_judgements_pass_and_one_call_is_always_allowed(fallen: int, level: int) -> None:
    search = ConcurrencySearch(4)
    search.fall_to(fallen)
    assert [_judged(search, 1.0)[1] for _ in range(6)] == [*[level] * 5, level + 1]


def test_a_step_after_a_refusal_is_not_compared_with_what_was_before() -> None:
    search = ConcurrencySearch(4)
    assert _judged(search, 0.001)[1] == 6
    search.fall_to(5)
    assert _judged(search, 10.0)[1] == 5
    assert [_judged(search, 10.0)[1] for _ in range(5)] == [5, 5, 5, 5, 7]


def test_what_was_sent_in_the_moment_of_a_step_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_search.time, "monotonic", lambda: 100.0)
    search = ConcurrencySearch(1)
    search.fall_to(1)
    for _ in range(6 * 12 - 1):
        search.answered(1.0, 100.0, TOP)
    search.answered(1.0, 99.9, TOP)
    assert search.level == 1
    search.answered(1.0, 100.0, TOP)
    assert search.level == 2


def test_answers_in_no_time_at_all_can_be_judged() -> None:
    assert _judged(ConcurrencySearch(4), 0.0)[1] == 6
