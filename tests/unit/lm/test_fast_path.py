"""Which calls take the fast path, with what body, and how often one is tried on it."""

from __future__ import annotations

import asyncio
from typing import Any

import dspy
import pytest

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.chat import Call
from seedbed.lm.fast_path import call_fast, fast_path_body
from seedbed.sweep.model_config import ModelConfig

MODEL = "openai/x"
USER = {"role": "user", "content": "Is 4 even?"}
SYSTEM = {"role": "system", "content": "Be brief."}


def _body(prompt: Any = None, messages: Any = None, own: Any = None, settings: Any = None, **asked: Any) -> Any:
    """Of an LM whose own settings are `own`, called with `asked`."""
    lm = dspy.LM(MODEL, cache=False)
    lm.kwargs = own or {}
    with dspy.context(**{"disable_history": True, "usage_tracker": None, "send_stream": None, **(settings or {})}):
        return fast_path_body(lm, prompt, messages, asked)


def test_a_prompt_is_one_message_of_the_user_and_messages_are_taken_as_they_are() -> None:
    assert _body("Is 4 even?") == {"model": MODEL, "messages": [USER]}
    assert _body(messages=[SYSTEM, USER]) == {"model": MODEL, "messages": [SYSTEM, USER]}


def test_settings_of_the_call_count_before_those_of_the_model() -> None:
    own = {"temperature": 0.0, "max_tokens": 5, "top_p": None}
    found = _body("hello", own=own, temperature=0.5, seed=3, presence_penalty=0.1, frequency_penalty=0.2)
    assert found is not None
    messages = [{"role": "user", "content": "hello"}]
    assert found == {
        "model": MODEL, "messages": messages, "temperature": 0.5, "max_completion_tokens": 5, "seed": 3,
        "presence_penalty": 0.1, "frequency_penalty": 0.2,
    }  # fmt: skip


@pytest.mark.parametrize("asked", [{"cache": False}, {"rollout_id": 7}, {"n": 1}, {"n": None}, {"tools": None}])
def test_what_is_not_sent_keeps_no_call_off_the_fast_path(asked: dict[str, Any]) -> None:
    assert _body("Is 4 even?", **asked) == {"model": MODEL, "messages": [USER]}


@pytest.mark.parametrize(
    "asked",
    [{"n": 2}, {"n": 0}, {"tools": []}, {"response_format": {}}, {"temperature": "0.5"}, {"another": 1}, {"stop": "a"}],
)
def test_settings_of_another_kind_need_dspys_own_way(asked: dict[str, Any]) -> None:
    assert _body("Is 4 even?", **asked) is None


@pytest.mark.parametrize(
    "settings",
    [
        {"send_stream": object()},
        {"usage_tracker": object()},
        {"disable_history": False},
        {"callbacks": [object()]},
    ],
)
def test_where_somebody_listens_it_is_dspys_own_way(settings: dict[str, Any]) -> None:
    assert _body("Is 4 even?", settings=settings) is None


def test_where_somebody_listens_to_the_model_alone_it_is_dspys_own_way() -> None:
    lm = dspy.LM(MODEL, cache=False, callbacks=[object()])  # pyright: ignore[reportArgumentType]
    with dspy.context(disable_history=True):
        assert fast_path_body(lm, "hello", None, {}) is None


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": "a", "name": "b"}],
        [{"role": "user"}],
        ["hello"],
        [USER, SYSTEM],
        [USER, {"role": "tool", "content": "a"}],
        [{"role": "developer", "content": "a"}, USER],
        [USER, {"role": "assistant", "content": ""}],
    ],
)
def test_messages_of_more_than_texts_need_dspys_own_way(messages: list[Any]) -> None:
    assert _body(messages=messages) is None


@pytest.mark.parametrize("messages", [[USER, {"role": "assistant", "content": "Yes."}, USER], [SYSTEM]])
def test_turns_of_texts_take_the_fast_path(messages: list[Any]) -> None:
    assert _body(messages=messages) == {"model": MODEL, "messages": messages}


class _Failing:
    """A chat whose first attempts fail."""

    def __init__(self, *failures: ProviderError) -> None:
        self.numbers, self._failures = list[int](), list(failures)

    async def attempt(self, body: Any, read: Any, call: Call, sample: Any) -> str:
        self.numbers.append(call.number)
        if self._failures:
            raise codec.to_dspy_error(self._failures.pop(0))
        return "yes"


def _called(chat: Any, retries: int) -> list[Any]:
    return asyncio.run(call_fast(chat, ModelConfig(model=MODEL), {"messages": [USER]}, Call(), (None, 0), retries))


def _passing(times: int) -> list[ProviderError]:
    return [ProviderError("server", "down", status=500) for _ in range(times)]


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_failure_that_may_pass_is_tried_again_as_often_as_allowed(failures: int) -> None:
    chat = _Failing(*_passing(failures))
    assert _called(chat, 2) == ["yes"]
    assert chat.numbers == list(range(1, failures + 2))


@pytest.mark.parametrize(
    ("failures", "retries", "numbers"),
    [
        (_passing(3), 2, [1, 2, 3]),
        (_passing(1), 0, [1]),
        ([ProviderError("auth", "no", status=401)], 2, [1]),
        ([*_passing(1), ProviderError("invalid_request", "no", status=400)], 2, [1, 2]),
    ],
)
def test_after_the_last_try_or_a_failure_that_stays_it_is_dspys_error(
    failures: list[ProviderError], retries: int, numbers: list[int]
) -> None:
    chat = _Failing(*failures)
    with pytest.raises(dspy.LMError):
        _called(chat, retries)
    assert chat.numbers == numbers
