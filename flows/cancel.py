"""A run cancelled in the UI stops paying: the flow looks at its own state while it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

from prefect import get_client
from prefect.exceptions import PrefectException
from prefect.runtime import flow_run

from seedbed.phases.context import SweepRun
from seedbed.phases.halt import stop_sweep

_LOOK_EVERY_S = 2.0


@asynccontextmanager
async def stopped_by_cancellation(run: SweepRun) -> AsyncIterator[None]:
    """While the block runs, a cancellation of the current flow run stops all LM calls made for the sweep; so does the
    end of the flow by a signal, which is how a worker cancels: tasks in threads would not notice."""
    watcher = asyncio.create_task(_watch(UUID(flow_run.id), run))
    try:
        yield
    except BaseException:
        stop_sweep(run, "the flow was ended from outside")
        raise
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher


async def _watch(flow_run_id: UUID, sweep: SweepRun) -> None:
    async with get_client() as client:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                run = await client.read_flow_run(flow_run_id)
            except (PrefectException, OSError):
                # A server that does not answer for a moment has cancelled nothing.
                continue
            if run.state is not None and (run.state.is_cancelling() or run.state.is_cancelled()):
                stop_sweep(sweep, "cancelled in the Prefect UI")
                return
