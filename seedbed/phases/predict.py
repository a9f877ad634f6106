"""Asking a system one case: it ends as an answer or as a typed error."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from seedbed.errors import ProviderError, causes, staying
from seedbed.storage.redact import redact
from seedbed.suite import Answer, Case, Failure, Prediction

_UNREADABLE = "AdapterParseError"
"""DSPy's error for an answer in no format that it can read."""


async def predict(system: Callable[..., Any], case: Case) -> Prediction:
    """Ask a system one case. Whatever goes wrong becomes the sample's error, never its score."""
    try:
        with staying():
            return Answer(case.sample_id, as_output(await call_system(system, case.inputs)))
    except Exception as error:
        return Failure(case.sample_id, describe(error))


async def call_system(system: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
    """A system may be a dspy.Module, an async function or a plain one, which then runs in a thread."""
    import dspy

    if isinstance(system, dspy.Module):
        if hasattr(system, "aforward"):
            return await system.acall(**inputs)
        return await asyncio.to_thread(system, **inputs)
    if inspect.iscoroutinefunction(system) or inspect.iscoroutinefunction(getattr(system, "__call__", None)):  # noqa: B004
        return await system(**inputs)
    return await asyncio.to_thread(system, **inputs)


def as_output(answer: Any) -> dict[str, Any]:
    """A system's answer as a plain mapping: a prediction's fields, a dict, or a text as `answer`."""
    import dspy

    if isinstance(answer, dspy.Prediction):
        return dict(answer.items())
    if isinstance(answer, Mapping):
        return dict(answer)
    if isinstance(answer, str):
        return {"answer": answer}
    raise TypeError(f"a system must return a prediction, a mapping or a text, not {type(answer).__name__}")


def describe(error: BaseException) -> dict[str, Any]:
    """An error as data: what kind, in whose words, without secrets."""
    for cause in causes(error):
        if isinstance(cause, ProviderError):
            return {"kind": cause.kind, "message": redact(cause.message)}
    if any(type(cause).__name__ == _UNREADABLE for cause in causes(error)):
        return {"kind": _UNREADABLE, "message": redact(str(error))[:1000]}
    return {"kind": type(error).__name__, "message": redact(str(error))[:1000]}


def read_prediction(row: Mapping[str, Any]) -> Prediction:
    """A row of predictions.jsonl as what it was."""
    if "error" in row:
        return Failure(row["sample_id"], row["error"])
    return Answer(row["sample_id"], row["output"])
