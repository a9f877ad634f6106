"""The threads behind the runtime's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast

from seedbed.lm.compat.dspy import is_instant

T = TypeVar("T")


class LoopExecutor(ThreadPoolExecutor):
    """Runs what takes no time at once, on the loop itself, and all else in threads."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        if not is_instant(fn):
            return super().submit(fn, *args, **kwargs)
        # `run_in_executor`, the only caller, takes a future of its loop as it is; one that is done is not waited for.
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return cast("Future[T]", future)
