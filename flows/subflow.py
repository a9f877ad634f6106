"""Running a planned sweep from within another flow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from prefect import Flow
from prefect.client.schemas.objects import State
from prefect.states import Failed

from flows.cancel import stopped_by_cancellation
from seedbed.errors import SeedbedError
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import open_run
from seedbed.storage.paths import explain_disk
from seedbed.storage.redact import masked_error, redact
from seedbed.storage.store import read_json


async def run_planned(flow: Flow[[str], Any], folder: Path) -> str:
    """Run the sweep planned in a folder as a subflow; returns its status. A cancellation of either run stops it."""
    try:
        async with stopped_by_cancellation(open_run(str(folder))):
            state = await flow(str(folder), return_state=True)
    finally:
        await asyncio.to_thread(close_runtimes)
    summary = folder / "summary.json"
    if not summary.exists():
        # The flow itself broke, not a cell of it.
        await state.aresult(raise_on_failure=True)
    return read_json(summary)["status"]


async def explained(work: Callable[[], Awaitable[State[Any]]]) -> State[Any]:
    """A user's mistake or a full disk ends a flow with its one sentence, not with a traceback; no secret is told either
    way."""
    try:
        return await work()
    except SeedbedError as error:
        return Failed(message=redact(str(error)))
    except Exception as error:
        if (sentence := explain_disk(error)) is not None:
            return Failed(message=redact(sentence))
        if (safe := masked_error(error)) is not error:
            raise safe from None
        raise
