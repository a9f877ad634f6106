"""Asking a system one case: which forms a system and its answer may have, and what becomes of an error."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import dspy
import pytest

from seedbed.errors import ProviderError
from seedbed.phases.predict import as_output, describe, predict, read_prediction
from seedbed.suite import Answer, Case, Failure


class Unreadable(Exception):
    pass


Unreadable.__name__ = "AdapterParseError"


class Called:
    async def __call__(self, n: int) -> dict[str, Any]:
        return {"n": n, "thread": threading.get_ident()}


async def awaited(n: int) -> dict[str, Any]:
    return {"n": n, "thread": threading.get_ident()}


def plain(n: int) -> dict[str, Any]:
    return {"n": n, "thread": threading.get_ident()}


@pytest.mark.parametrize(("system", "on_the_loop"), [(awaited, True), (Called(), True), (plain, False)])
def test_a_plain_function_runs_in_a_thread_and_asynchronous_ones_on_the_loop(system: Any, on_the_loop: bool) -> None:
    found = asyncio.run(predict(system, Case("a", {"n": 3})))
    assert isinstance(found, Answer)
    assert (found.sample_id, found.output["n"]) == ("a", 3)
    assert (found.output["thread"] == threading.get_ident()) is on_the_loop


def test_what_goes_wrong_is_the_error_of_the_sample() -> None:
    def fail(n: int) -> None:
        raise KeyError(n)

    assert asyncio.run(predict(fail, Case("a", {"n": 3}))) == Failure("a", {"kind": "KeyError", "message": "3"})


@pytest.mark.parametrize(
    ("answer", "output"),
    [(dspy.Prediction(a="x"), {"a": "x"}), ({"a": 1}, {"a": 1}), ("x", {"answer": "x"})],
)
def test_an_answer_is_a_prediction_a_mapping_or_a_text(answer: Any, output: dict[str, Any]) -> None:
    assert as_output(answer) == output
    with pytest.raises(TypeError, match="must return a prediction, a mapping or a text, not list"):
        as_output(["x"])


def caused(cause: BaseException) -> BaseException:
    error = ValueError("outer")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ValueError("x" * 1001), "ValueError", "x" * 1000),
        (Unreadable("x" * 1001), "AdapterParseError", "x" * 1000),
        (caused(Unreadable("inner")), "AdapterParseError", "outer"),
        (caused(KeyError("inner")), "ValueError", "outer"),
        (caused(ProviderError("timeout", "slow")), "timeout", "slow"),
    ],
)
def test_an_error_is_told_by_its_kind_and_at_most_a_thousand_letters(
    error: BaseException, kind: str, message: str
) -> None:
    assert describe(error) == {"kind": kind, "message": message}


def test_a_row_is_read_as_what_it_was() -> None:
    assert read_prediction({"sample_id": "a", "output": {"n": 1}}) == Answer("a", {"n": 1})
    assert read_prediction({"sample_id": "a", "error": {"kind": "k"}}) == Failure("a", {"kind": "k"})
