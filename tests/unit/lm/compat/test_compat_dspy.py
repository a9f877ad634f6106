"""DSPy still has what is used of its insides. A failure says in a sentence what has gone and who used it."""

import asyncio
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy import lm15

from seedbed.lm.compat import LibraryChanged, PrivateName
from seedbed.lm.compat.dspy import (
    BARS,
    CALL_RESULT,
    ERROR_BOUNDARY,
    FIELD_TYPE,
    INSTANT,
    PRINTING,
    chat_output,
    error_boundary,
    is_instant,
)
from seedbed.lm.executor import LoopExecutor

LOADED = (*INSTANT, ERROR_BOUNDARY, CALL_RESULT, *BARS)


@pytest.mark.parametrize("name", LOADED, ids=lambda name: f"{name.owner}.{name.name}")
def test_dspy_has_the_name(name: PrivateName) -> None:
    assert name.load() is not None


@pytest.mark.parametrize("name", LOADED, ids=lambda name: f"{name.owner}.{name.name}")
def test_a_dspy_without_the_name_is_told_in_a_sentence(name: PrivateName) -> None:
    with pytest.raises(LibraryChanged, match=rf"^dspy .* has no {name.owner}\.{name.name}, which {name.used_in} needs"):
        name.of(ModuleType(name.owner))


@pytest.mark.parametrize("name", PRINTING, ids=lambda name: name.owner)
def test_dspy_has_the_module_that_prints(name: PrivateName) -> None:
    assert name.module()


@pytest.mark.parametrize("name", BARS, ids=lambda name: name.owner)
def test_bars_are_drawn_by_way_of_the_module_tqdm(name: PrivateName) -> None:
    assert callable(name.load().tqdm)


def test_the_boundary_turns_an_engine_s_error_into_the_public_one() -> None:
    with pytest.raises(dspy.LMRateLimitError), error_boundary("openai/x"):
        raise lm15.RateLimitError("slow down")


def test_a_response_of_text_alone_is_a_text() -> None:
    message = lm15.Message.assistant([lm15.TextPart(text="yes")])
    response = lm15.Response(id="1", model="x", message=message, finish_reason="stop", usage=lm15.Usage())
    assert chat_output(response) == "yes"


def test_a_field_of_a_signature_says_whether_it_is_given_or_asked() -> None:
    fields = dspy.Signature("question -> answer").fields
    assert [fields[name].json_schema_extra[FIELD_TYPE] for name in fields] == ["input", "output"]


def test_what_dspy_sends_through_a_thread_on_every_call_runs_on_the_loop() -> None:
    async def ran_in(function: Any) -> int:
        asyncio.get_running_loop().set_default_executor(LoopExecutor(1))
        return await asyncio.to_thread(function)

    instant = _named(threading.get_ident, INSTANT[0])
    assert asyncio.run(ran_in(instant)) == threading.get_ident()
    assert asyncio.run(ran_in(threading.get_ident)) != threading.get_ident()


def test_a_function_that_was_renamed_is_not_taken_for_an_instant_one() -> None:
    assert not is_instant(SimpleNamespace(args=(_named(threading.get_ident, INSTANT[0], "renamed"),)))


def _named(function: Any, like: PrivateName, name: str | None = None) -> Any:
    """The function in the clothes of DSPy's."""

    def twin() -> Any:
        return function()

    twin.__module__, twin.__name__ = like.owner, name or like.name
    return twin


def test_a_failure_of_what_runs_on_the_loop_is_its_callers() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    async def work() -> None:
        asyncio.get_running_loop().set_default_executor(LoopExecutor(1))
        await asyncio.to_thread(_named(broken, INSTANT[1]))

    with pytest.raises(ZeroDivisionError):
        asyncio.run(work())


@pytest.mark.parametrize("function", [SimpleNamespace(), SimpleNamespace(args=()), len])
def test_what_is_no_partial_is_no_instant_function(function: Any) -> None:
    assert is_instant(function) is False


def test_only_the_function_itself_is_looked_at() -> None:
    named = _named(threading.get_ident, INSTANT[0])
    instant: list[Any] = [SimpleNamespace(args=args) for args in ((named,), (named, len), (len, named))]
    assert [is_instant(one) for one in instant] == [True, True, False]


def test_an_error_that_dspy_does_not_expect_becomes_a_public_one_too() -> None:
    with pytest.raises(dspy.LMError), error_boundary("openai/x"):
        raise ZeroDivisionError("a bug")


@pytest.mark.parametrize(
    "parts", [[lm15.TextPart(text="yes")], [lm15.ThinkingPart(text="hm"), lm15.TextPart(text="yes")]]
)
def test_the_first_answer_is_the_output(parts: list[Any]) -> None:
    message = lm15.Message.assistant(parts)
    response = lm15.Response(id="1", model="x", message=message, finish_reason="stop", usage=lm15.Usage())
    found = chat_output(response)
    assert (found if len(parts) == 1 else found["text"]) == "yes"
