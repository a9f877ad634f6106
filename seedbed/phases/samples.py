"""Running the samples of a phase: many at once on the runtime's loop, each ending as an answer or a typed error."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from seedbed.errors import ProviderError
from seedbed.lm.lm import SAMPLE
from seedbed.lm.runtime import GRACE_S, LMRuntime
from seedbed.redact import redact
from seedbed.suite import Case, Prediction

T = TypeVar("T")


async def run_all(
    runtime: LMRuntime,
    items: Sequence[T],
    work: Callable[[T], Awaitable[None]],
    *,
    at_once: int,
) -> None:
    """Do the work of every item, `at_once` at a time. When the runtime is stopped, no further item is started, those
    running get a moment to end, and the reason is raised."""
    waiting = iter(items)
    running: set[asyncio.Task[None]] = set()
    try:
        while True:
            while len(running) < at_once and not runtime.stopped.is_set():
                item = next(waiting, None)
                if item is None:
                    break
                running.add(asyncio.ensure_future(work(item)))
            if not running:
                break
            done, running = await asyncio.wait(
                running,
                timeout=GRACE_S if runtime.stopped.is_set() else 0.5,
                return_when=asyncio.FIRST_COMPLETED if not runtime.stopped.is_set() else asyncio.ALL_COMPLETED,
            )
            for task in done:
                task.result()
            if runtime.stopped.is_set() and not done:
                break
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    runtime.check_stop()


async def predict(system: Callable[..., Any], case: Case, repeat: int = 0) -> Prediction:
    """Ask a system one case. Whatever goes wrong becomes the sample's error, never its score."""
    token = SAMPLE.set((case.sample_id, repeat))
    try:
        return Prediction(case.sample_id, as_output(await call_system(system, case.inputs)))
    except Exception as error:  # noqa: BLE001 - any failure of a system belongs to its sample
        return Prediction(case.sample_id, None, describe(error))
    finally:
        SAMPLE.reset(token)


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
    return {"kind": type(error).__name__, "message": redact(str(error))[:1000]}


def causes(error: BaseException) -> Iterable[BaseException]:
    """The error and what it was raised from, outermost first."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__
