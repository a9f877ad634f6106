"""Threads for searching: neither the loop that makes the calls nor the threads that write its ledger wait for it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_THREADS = 4


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="seedbed-search")


async def in_search_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the work gives; calls it makes belong to the sample that asked, as they would without a thread."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_pool(), lambda: context.run(work, *args, **kwargs))
