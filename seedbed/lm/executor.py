"""The thread pool behind the runtime's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast

T = TypeVar("T")

# DSPy sends these through a thread on every call, in case they read a media file or a price list. Ours do neither, and
# the two hops cost more than all else that DSPy does for a call. If DSPy renames them, they run in threads again.
_INSTANT = frozenset({("dspy.clients.execution", "prepare"), ("dspy.clients.execution", "_price_result")})


class LoopExecutor(ThreadPoolExecutor):
    """Runs what takes no time at once, on the loop itself, and all else in threads."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        if not _instant(fn):
            return super().submit(fn, *args, **kwargs)
        # `run_in_executor`, the only caller, takes a future of its loop as it is; one that is done is not waited for.
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return cast("Future[T]", future)


def _instant(fn: Callable[..., Any]) -> bool:
    """Whether this is `asyncio.to_thread` of one of the functions above: a partial of Context.run on it."""
    inner = getattr(fn, "args", None)
    if not inner:
        return False
    return (getattr(inner[0], "__module__", None), getattr(inner[0], "__name__", None)) in _INSTANT
