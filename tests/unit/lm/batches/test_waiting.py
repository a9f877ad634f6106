"""Callers that wait: each is told once, by its attempt; and what others wrote down, in the words of this process."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.waiting import Again, Told, Waiting
from seedbed.lm.ledger.batches import Ended
from seedbed.sweep.model_config import ModelConfig


def lane(name: str = "openai/loop") -> Lane:
    return Lane(ModelConfig.model_validate({"model": name, "api_base": "http://127.0.0.1:9/v1"}))


def test_the_first_word_counts_and_nobody_is_told_who_does_not_wait() -> None:
    async def go() -> Told:
        waiting = Waiting()
        future = waiting.add(1, lane(), "c", own=True)
        waiting.tell(2, b"for nobody")
        assert not future.done()
        waiting.tell(1, b"first")
        waiting.tell(1, b"second")
        return await future

    assert asyncio.run(go()) == b"first"


def test_a_lane_has_those_that_wait_in_it_and_were_not_told_yet() -> None:
    async def go() -> None:
        waiting, one, other = Waiting(), lane(), lane("openai/other")
        for attempt, where in ((1, one), (2, other), (3, one), (4, one)):
            waiting.add(attempt, where, "c", own=True)
        waiting.tell(3, Again())
        waiting.remove(4)
        waiting.remove(5)
        assert waiting.of(one) == [1]
        assert waiting.of(other) == [2]
        assert waiting.of(lane()) == []

    asyncio.run(go())


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (("paid", b"yes", None, None), b"yes"),
        (("paid", None, None, None), Again()),
        (("lost", None, "Lost", "it died"), Again()),
        (("lost", b"yes", None, None), Again()),
        (("failed", None, "NotSent", None), Again()),
        (("failed", b"yes", "NotSent", None), Again()),
        (("lost", None, "server", "down"), Again()),
        (("failed", None, "server", "down"), ("server", "down")),
        (("failed", None, "timeout", None), ("timeout", "failed in its batch")),
    ],
)
def test_what_another_process_wrote_down_is_told_as_if_it_had_happened_here(ended: Any, told: Any) -> None:
    async def go() -> Told:
        waiting = Waiting()
        future = waiting.add(7, lane(), "c", own=False)
        waiting.tell_ended(Ended(7, *ended))
        return await future

    found = asyncio.run(go())
    assert (found.kind, found.message) == told if isinstance(found, ProviderError) else found == told
