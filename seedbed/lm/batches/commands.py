"""What `seedbed batches` does beside looking: wait for batches without a sweep, and cancel them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from seedbed.errors import ProviderError, UserError
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.protocol import Perhaps
from seedbed.lm.batches.taking import Taking
from seedbed.lm.batches.waiting import Waiting
from seedbed.lm.ledger import batches
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.ledger.database import reading
from seedbed.lm.runtime import LMRuntime

_LOOK_S = 1.0


def wait_for(ledger_url: str, chosen: Collection[str], tell: Callable[[Sequence[Batch]], None]) -> None:
    """Look after batches until they have ended and all their answers are on record."""
    runtime = LMRuntime(ledger_url, {})
    try:
        runtime.run(_wait(runtime, chosen, tell))
    finally:
        runtime.close()


async def _wait(runtime: LMRuntime, chosen: Collection[str], tell: Callable[[Sequence[Batch]], None]) -> None:
    engine = runtime.ledger.engine
    while True:
        left = [batch for batch in batches.open_batches(engine) if batch.id in chosen]
        if not left:
            return
        for batch in left:
            runtime.batches.look_after(runtime.batches.lane(Lane.of_record(batch.spec).model))
        tell(left)
        runtime.check_stop()
        await asyncio.sleep(_LOOK_S)


def cancel(ledger_url: str, chosen: Sequence[Batch], tell: Callable[[Batch, str], None]) -> None:
    """Have batches ended. What was answered before is billed, and taken by the next run or by waiting."""
    runtime = LMRuntime(ledger_url, {})
    try:
        for batch in chosen:
            tell(batch, runtime.run(_cancel(runtime, batch)))
    except ProviderError as error:
        raise UserError(f"the provider could not be asked to cancel ({error.message}); try again.") from None
    finally:
        runtime.close()


def drop(ledger_url: str, chosen: Sequence[Batch], tell: Callable[[Batch, str], None]) -> None:
    """Wait no more for batches that their provider does not end. What they hold may still be billed: it counts at its
    worst case, and is asked again by who wants it."""
    runtime = LMRuntime(ledger_url, {})
    try:
        for batch in chosen:
            tell(batch, runtime.run(_drop(runtime, batch)))
    finally:
        runtime.close()


async def _drop(runtime: LMRuntime, batch: Batch) -> str:
    engine, own = runtime.ledger.engine, runtime.ledger.owner
    leased = batches.lease(engine, own, batch.id)
    if leased is None:
        return "another process looks after it; stop that one first"
    if leased.state in ("packed", "uploaded"):
        return f"was never sent: {batches.unpack(engine, own, batch.id)} requests are free again"
    lane = runtime.batches.lane(Lane.of_record(leased.spec).model)
    taking = Taking(runtime.ledger, lane, Waiting(), asyncio.to_thread)
    count = len(batches.open_rows(engine, batch.id))
    await taking.give_up(leased, "its batch was dropped")
    batches.advance(engine, own, batch.id, state="ended", ended_at=time.time(), error="dropped")
    return f"dropped; {count} requests count as lost, at their worst case, and are asked again by the next run"


async def _cancel(runtime: LMRuntime, batch: Batch) -> str:
    engine, own = runtime.ledger.engine, runtime.ledger.owner
    lane = runtime.batches.lane(Lane.of_record(batch.spec).model)
    if batch.state == "running":
        return await _ask_to_cancel(lane, batch)
    leased = batches.lease(engine, own, batch.id)
    if leased is None:
        return "is just being sent by another process; stop that one, or try again in a moment"
    if leased.state == "running":
        # It was sent since it was looked at.
        return await _ask_to_cancel(lane, leased)
    if leased.state == "creating":
        with reading(engine) as connection:
            known = batches.known_ids(connection)
        sent = replace(leased, requests=len(list(batches.bodies(engine, batch.id))))
        found = await lane.api.find(sent, leased.packed_at, known)
        if isinstance(found, Perhaps):
            return "cannot be told yet from others at the provider; try again when those have ended"
        if found is not None:
            batches.advance(engine, own, batch.id, state="running", provider_id=found)
            await lane.api.cancel(found)
            return "was found at the provider and asked to cancel"
    return f"was never sent: {batches.unpack(engine, own, batch.id)} requests are free again"


async def _ask_to_cancel(lane: Lane, running: Batch) -> str:
    assert running.provider_id is not None
    await lane.api.cancel(running.provider_id)
    return "asked to cancel; `seedbed batches wait`, or the next run, takes what was answered"
