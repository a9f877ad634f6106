"""A slow server on this machine, asked with default settings: no call waits in its queue beyond the time it has."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.providers import make_provider
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import PRICE, ledger_url, scope, sums
from tests.support.loopback import Loopback

SLOTS = 2
QUEUE = 24
"""With two slots and ten seconds a call, what comes behind so many has no answer within two minutes."""


class SlowServer(Loopback):
    """Works on two at a time, in order. Whom it could not answer in time is told so at once (504): its clock is the
    length of its queue."""

    waiting = 0
    arrived = 0
    too_late = 0
    most_waiting = 0

    def __init__(self, expected: int = 0, at_once: int = 0, slots: int | None = None) -> None:
        """Of `expected` requests it ends none but the first, which goes alone, before `at_once` are there."""
        super().__init__(slots=slots)
        self._expected, self._at_once = expected, at_once

    async def _handle(self, request: Any) -> Any:
        if request.method == "GET":
            return await super()._handle(request)
        turns = self.__dict__.setdefault("turns", asyncio.Semaphore(SLOTS))
        if self.waiting >= QUEUE:
            self.too_late += 1
            return await _gone(request)
        self.waiting += 1
        self.arrived += 1
        alone = self.arrived == 1
        self.most_waiting = max(self.most_waiting, self.waiting)
        try:
            async with turns:
                while not alone and self.waiting < self._at_once and self.arrived < self._expected:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
                return await super()._handle(request)
        finally:
            self.waiting -= 1


async def _gone(request: Any) -> Any:
    from aiohttp import web

    await request.read()
    return web.Response(status=504)


def _ask(folder: Path, url: str, n: int, **changes: Any) -> int:
    settings = {"model": "openai/own", "api_base": url, "price": PRICE, "backoff_s": 0.0, **changes}
    made = LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate(settings)})
    lm = made.lm(scope())

    async def ask() -> list[Any]:
        return await asyncio.gather(*(lm.acall(f"question {i}") for i in range(n)), return_exceptions=True)

    try:
        return sum(not isinstance(reply, BaseException) for reply in made.run(ask()))
    finally:
        made.close()


def test_default_settings_bring_no_timeout_to_a_server_of_two_slots(tmp_path: Path) -> None:
    with SlowServer(expected=60, at_once=4) as server:
        assert _ask(tmp_path, server.url, 60) == 60
        assert server.too_late == 0
        assert 4 <= server.most_waiting <= 16, "both slots, and some waiting for them"
    assert sums(tmp_path).outcomes == {"paid": 60}


def test_a_server_that_tells_its_slots_has_as_many_calls_in_flight(tmp_path: Path) -> None:
    with SlowServer(expected=60, at_once=2, slots=2) as server:
        assert _ask(tmp_path, server.url, 60) == 60
        assert (server.too_late, server.most_waiting) == (0, 2)
    assert sums(tmp_path).outcomes == {"paid": 60}


@pytest.mark.parametrize(("told", "known"), [(3, 3), (0, None)])
def test_a_server_that_tells_of_no_slot_tells_nothing(told: int, known: int | None) -> None:
    async def ask(url: str) -> int | None:
        provider = make_provider(ModelConfig.model_validate({"model": "openai/own", "api_base": url}))
        try:
            return await provider.slots()
        finally:
            await provider.aclose()

    with Loopback(slots=told) as server:
        assert asyncio.run(ask(server.url)) == known


def test_slots_beyond_the_limit_are_not_used(tmp_path: Path) -> None:
    with SlowServer(expected=60, at_once=3, slots=40) as server:
        assert _ask(tmp_path, server.url, 60, limits={"start": 2, "concurrency": 3}) == 60
        assert server.most_waiting == 3


def test_too_many_at_once_are_fewer_after_the_first_timeouts(tmp_path: Path) -> None:
    with SlowServer() as server:
        assert _ask(tmp_path, server.url, 120, limits={"concurrency": 64}, retries=20) == 120
        assert server.too_late <= 64, "the first wave, and no storm after it"


@pytest.mark.parametrize(
    ("settings", "start", "at_once"),
    [
        ({"model": "local/smollm2-135m"}, None, 2),
        ({"model": "local/smollm2-135m", "options": {"slots": 6}}, None, 6),
        ({"model": "openai/own", "serve": {"command": "serve --port {port}"}}, 4, 16),
        ({"model": "openai/own", "api_base": "http://localhost:8000/v1", "limits": {"rpm": 60}}, 4, 16),
        ({"model": "openai/own", "api_base": "http://localhost:8000/v1", "limits": {"concurrency": 32}}, None, 32),
        ({"model": "openai/own", "api_base": "http://localhost:8000/v1", "limits": {"start": 8}}, 8, 16),
        ({"model": "openai/own", "api_base": "https://models.example.org/v1"}, None, 16),
        ({"model": "openai/gpt-4.1-mini"}, None, 16),
    ],
)
def test_few_calls_at_once_go_to_this_machine_unless_told(
    settings: dict[str, Any], start: int | None, at_once: int
) -> None:
    limits = ModelConfig.model_validate(settings).limits
    assert (limits.start, limits.concurrency) == (start, at_once)
    assert ModelConfig.model_validate(ModelConfig.model_validate(settings).model_dump()).limits == limits
