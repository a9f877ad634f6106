"""Models outside a sweep: whom calls are recorded for, how many go at once, and how a session ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.errors import BudgetReached, Interrupted, UserError
from seedbed.lm.adapter import QuickChatAdapter
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.session import Session, model_of, open_session
from seedbed.lm.types import Attempt, JsonDict
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import sums

MODEL = ModelConfig.model_validate(
    {"model": "openai/x", "price": {"input": 1.0, "output": 1.0}, "temperature": 1.0, "limits": {"concurrency": 3}}
)


class _Provider:
    """Answers every chat the same, and keeps what it was told of each."""

    def __init__(self) -> None:
        self.attempts = list[Attempt]()

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        self.attempts.append(attempt)
        message = {"role": "assistant", "content": "yes"}
        usage = {"prompt_tokens": 3, "completion_tokens": 1}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    async def aclose(self) -> None:
        return None


@contextmanager
def _session(folder: Path, **changes: Any) -> Iterator[tuple[Session, _Provider]]:
    provider = _Provider()
    with open_session("judge", "subject", MODEL, folder / "deep" / "er" / "ledger.sqlite", **changes) as session:
        session.runtime.keep(f"chat:{MODEL.model}", lambda: provider)
        yield session, provider


def test_calls_stand_under_the_command_its_subject_and_the_seed(tmp_path: Path) -> None:
    with _session(tmp_path, seed=5) as (session, provider):
        session.run(session.lm("grader").acall("hello"))
        used = session.usage()
        assert (used.calls, used.tokens_in, used.tokens_out) == (1, 3, 1)
        assert [attempt.seed for attempt in provider.attempts] == [5]
        assert len(session.execution) == 12
    where = "sweep = 'judge' AND cell = 'subject' AND phase = 'judge' AND role = 'grader'"
    assert sums(tmp_path / "deep" / "er", where).outcomes == {"paid": 1}


def test_the_seed_is_0_unless_told(tmp_path: Path) -> None:
    with _session(tmp_path) as (session, provider):
        session.run(session.lm("grader").acall("hello"))
        assert [attempt.seed for attempt in provider.attempts] == [0]


@pytest.mark.parametrize(("max_usd", "asked"), [(None, 1), (1.0, 1), (1e-9, 0)])
def test_no_call_may_take_the_command_past_its_sum(tmp_path: Path, max_usd: float | None, asked: int) -> None:
    with _session(tmp_path, max_usd=max_usd) as (session, provider):
        try:
            session.run(session.lm("grader").acall("hello"))
        except dspy.LMError:
            assert isinstance(session.runtime.stop_reason, BudgetReached)
        except BudgetReached:
            assert asked == 0
        assert len(provider.attempts) == asked


@pytest.mark.parametrize(("at_once", "most"), [(None, 3), (2, 2), (100, 7)])
def test_as_many_items_are_worked_on_at_once_as_asked_or_as_calls_are_allowed(
    tmp_path: Path, at_once: int | None, most: int
) -> None:
    now, seen = 0, list[int]()

    async def work(item: int) -> int:
        nonlocal now
        now += 1
        seen.append(now)
        for _ in range(5):
            await asyncio.sleep(0)
        now -= 1
        return item * 10

    with _session(tmp_path) as (session, _):
        items = {str(number): number for number in range(7)}
        assert session.run(session.each(items, work, at_once=at_once)) == [item * 10 for item in range(7)]
    assert max(seen) == most


def test_what_is_done_for_an_item_is_recorded_under_its_key_and_nothing_after_it(tmp_path: Path) -> None:
    async def work(item: str) -> Any:
        return (item, CURRENT_SAMPLE.get())

    async def both() -> Any:
        before = CURRENT_SAMPLE.get()
        done = await session.each({"a": "A", "b": "B"}, work)
        return before, done, CURRENT_SAMPLE.get()

    with _session(tmp_path) as (session, _):
        before, done, after = session.run(both())
    assert done == [("A", ("a", 0)), ("B", ("b", 0))]
    assert before == after


def test_an_item_that_fails_is_raised_when_the_others_have_ended(tmp_path: Path) -> None:
    ended = list[int]()

    async def work(item: int) -> None:
        if item == 0:
            raise ZeroDivisionError
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append(item)

    with _session(tmp_path) as (session, _), pytest.raises(ZeroDivisionError):
        session.run(session.each({"a": 0, "b": 1, "c": 2}, work))
    assert ended == [1, 2]


def test_after_a_stop_no_item_is_begun_and_the_stop_is_what_is_raised(tmp_path: Path) -> None:
    begun = list[int]()

    async def work(item: int) -> None:
        begun.append(item)
        session.runtime.stop(Interrupted("enough"))
        raise ZeroDivisionError

    with _session(tmp_path) as (session, _), pytest.raises(Interrupted, match="enough"):
        session.run(session.each({"a": 0, "b": 1}, work, at_once=1))
    assert begun == [0]


def test_systems_are_asked_in_the_quick_form_without_a_history(tmp_path: Path) -> None:
    async def settings() -> Any:
        return dspy.settings.adapter, dspy.settings.disable_history, dspy.settings.track_usage

    with _session(tmp_path) as (session, _):
        adapter, disable_history, track_usage = session.run(settings())
    assert isinstance(adapter, QuickChatAdapter)
    assert (disable_history, track_usage) == (True, False)


def test_an_interrupt_starts_no_new_call_and_a_session_is_closed_whatever_ends_it(tmp_path: Path) -> None:
    kept = list[Session]()

    def worked(error: type[BaseException]) -> None:
        with _session(tmp_path) as (session, _):
            kept.append(session)
            raise error

    for error in (KeyboardInterrupt, ZeroDivisionError):
        with pytest.raises(error):
            worked(error)
    assert all(session.runtime.loop.is_closed() for session in kept)
    assert [str(session.runtime.stop_reason) for session in kept] == [
        "stopped by the user",
        "the LM runtime is closed",
    ]


def test_a_model_of_a_command_line_has_eight_calls_at_once_and_no_chance_unless_told() -> None:
    plain = model_of("openai/x")
    assert (plain.limits.concurrency, plain.temperature, plain.options, plain.api_base) == (8, 0.0, {}, None)
    told = model_of(
        "offline/x", api_base="http://h/v1", key_env="MINE", concurrency=2, temperature=0.5, options={"ability": 0.5}
    )
    assert (told.limits.concurrency, told.temperature, told.options) == (2, 0.5, {"ability": 0.5})
    assert (told.api_base, told.api_key_env) == ("http://h/v1", "MINE")


def test_a_name_that_is_no_model_is_told_with_its_option() -> None:
    with pytest.raises(UserError, match=r"^--judge gpt: not a model; write PROVIDER/NAME"):
        model_of("gpt", option="--judge")
