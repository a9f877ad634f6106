"""How an attempt ends: what is written of it, and what it means for the calls after it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import Interrupted, ProviderError, SweepStopped, Unreachable
from seedbed.lm.types import Usage
from seedbed.sweep.model_config import Limits
from tests.support.attempt_lab import USAGE, Lab, run, some_passes


@pytest.mark.parametrize(
    ("does", "outcome"),
    [
        (None, "paid"),
        (ProviderError("server", "down", status=500), "failed"),
        (ZeroDivisionError("a bug"), "lost"),
        (asyncio.CancelledError(), "lost"),
    ],
)
def test_an_attempt_took_the_time_from_its_sending_to_its_end(
    monkeypatch: pytest.MonkeyPatch, does: BaseException | None, outcome: str
) -> None:
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("seedbed.lm.attempts.time", SimpleNamespace(monotonic=lambda: clock.now))

    async def later() -> Any:
        clock.now += 0.25
        return does

    async def work() -> None:
        lab = Lab()
        if does is None:
            assert await lab.ask(does=later) == "yes"
        else:
            with pytest.raises(type(does)):
                await lab.ask(does=later)
        (end,) = lab.book.ended
        assert (end.outcome, end.latency_s) == (outcome, 0.25)

    run(work)


@pytest.mark.parametrize("priced", [True, False])
def test_what_is_lost_risks_what_was_reserved_for_it(priced: bool) -> None:
    async def work() -> None:
        lab = Lab(priced=priced)
        with pytest.raises(ZeroDivisionError):
            await lab.ask(does=ZeroDivisionError("a bug"))
        (end,), (begin,) = lab.book.ended, lab.book.begun
        assert (begin.reserved_usd is not None) is priced
        assert end.at_risk_usd == (begin.reserved_usd or 0.0)
        assert end.error_class == "ZeroDivisionError"

    run(work)


@pytest.mark.parametrize(
    ("told", "priced", "spent"), [(USAGE, True, 4e-6), (USAGE, False, None), (None, True, 0.0), (None, False, 0.0)]
)
def test_a_useless_reply_costs_what_it_tells(told: Usage | None, priced: bool, spent: float | None) -> None:
    async def work() -> None:
        lab = Lab(priced=priced)
        with pytest.raises(ProviderError, match="no choices"):
            await lab.ask(does={"choices": []} if told is None else {"choices": [], "usage": {}}, told=told)
        (end,) = lab.book.ended
        assert end.spent_usd == (spent if spent is None else pytest.approx(spent))

    run(work)


@pytest.mark.parametrize(
    ("kind", "allowed", "paused"),
    [("rate_limit", 8, True), ("timeout", 8, False), ("server", 16, False), ("transport", 16, False)],
)
def test_a_refusal_and_a_timeout_slow_the_others_down_and_a_refusal_pauses_them(
    kind: Any, allowed: int, paused: bool
) -> None:
    async def work() -> None:
        lab, slept = Lab(), list[float]()
        with pytest.raises(ProviderError):
            await lab.ask(does=ProviderError(kind, "no", retry_after=30.0))
        assert lab.limiter.allowed == allowed

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            raise Interrupted("enough")

        try:
            await lab.limiter.wait_to_send(1, sleep)
        except Interrupted:
            assert slept == [pytest.approx(30.0, abs=5.0)]
        assert bool(slept) is paused

    run(work)


def test_a_success_lets_one_more_call_go_again() -> None:
    async def work() -> None:
        lab = Lab(limits=Limits(concurrency=2))
        with pytest.raises(ProviderError):
            await lab.ask(does=ProviderError("timeout", "late"))
        assert lab.limiter.allowed == 1
        await lab.ask()
        assert lab.limiter.allowed == 2

    run(work)


@pytest.mark.parametrize(("seconds", "said"), [(20.0, False), (21.0, True)])
def test_only_a_pause_of_more_than_twenty_seconds_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, seconds: float, said: bool
) -> None:
    monkeypatch.setattr("seedbed.lm.limits.time", SimpleNamespace(monotonic=lambda: 1000.0))

    async def work() -> None:
        with pytest.raises(ProviderError):
            await Lab().ask(does=ProviderError("rate_limit", "slower", retry_after=seconds))

    run(work)
    assert ("openai/x takes no calls for 21 s (429, Retry-After); waiting" in caplog.text) is said
    assert ("takes no calls" in caplog.text) is said


@pytest.mark.parametrize(
    ("first", "stopped"),
    [
        (None, False),
        (ProviderError("server", "down", status=500), False),
        (ProviderError("transport", "broken off"), True),
    ],
)
def test_who_answered_once_if_only_with_an_error_may_come_back(first: ProviderError | None, stopped: bool) -> None:
    async def work() -> None:
        lab = Lab()
        for does in (first, ProviderError("transport", "cannot reach it", unsent=True)):
            try:
                await lab.ask(does=does)
            except ProviderError:
                continue
        assert [type(reason) for reason in lab.reasons] == ([Unreachable] if stopped else [])

    run(work)


@pytest.mark.parametrize("does", [None, ProviderError("server", "down", status=500)])
def test_what_cannot_be_written_down_stops_everything(does: Any) -> None:
    async def work() -> None:
        lab = Lab()
        lab.book.fails_at_end = True
        with pytest.raises(SweepStopped, match=r"the ledger cannot be written .*disk full"):
            await lab.ask(does=does)
        assert [type(reason) for reason in lab.reasons] == [SweepStopped]

    run(work)


def test_what_was_used_beyond_what_was_likely_is_taken_from_the_tokens_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Time stands still for the limiter: nothing is filled up meanwhile.
    monkeypatch.setattr("seedbed.lm.limits.time", SimpleNamespace(monotonic=lambda: 1000.0))

    async def work() -> None:
        lab = Lab(limits=Limits(concurrency=4, tpm=600_000))
        bucket: Any = lab.limiter._tokens  # type: ignore[attr-defined]
        before = bucket._level
        await lab.ask()
        assert before - bucket._level == USAGE.input + USAGE.output == 4

    run(work)


@pytest.mark.parametrize(("does", "turns"), [(None, 1), (ProviderError("server", "down", status=500), 0)])
def test_after_an_answer_others_on_the_loop_have_their_turn(does: Any, turns: int) -> None:
    taken = list[bool]()

    async def turn() -> None:
        taken.append(True)

    async def work() -> None:
        lab = Lab()
        lab.attempts.pace = SimpleNamespace(turn=turn)  # type: ignore[assignment]
        await asyncio.gather(lab.ask(does=does), return_exceptions=True)
        assert len(taken) == turns

    run(work)


def test_the_next_call_may_go_while_the_end_of_one_is_still_being_written() -> None:
    async def work() -> None:
        lab = Lab(limits=Limits(concurrency=1))
        lab.book.writing = asyncio.get_running_loop().create_future()
        first, second = asyncio.create_task(lab.ask(key="a")), asyncio.create_task(lab.ask(key="b"))
        await some_passes()
        assert lab.sent == ["a", "b"]
        assert not first.done()
        lab.book.writing.set_result(None)
        assert [await first, await second] == ["yes", "yes"]

    run(work)
