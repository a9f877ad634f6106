"""A sweep at a glance in the Prefect UI: a progress artifact that follows it, and log lines about what goes wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact

from seedbed.lm.ledger.read_only import ledger_to_watch
from seedbed.lm.ledger.recent import failures_by_kind
from seedbed.local.board import headline, troubles
from seedbed.local.links import live_link
from seedbed.phases.context import SweepRun
from seedbed.phases.standing import CellStanding, Standing, look
from seedbed.storage.redact import redact
from tasks.artifacts import artifact_key

_EVERY_S = 5.0
"""Between two looks: an update takes the server some hundredths of a second."""
_SHARE = 0.05
"""Of the time that may go into looking."""
_MAX_SAID = 200

Failures = Sequence[Mapping[str, Any]]


@asynccontextmanager
async def followed(run: SweepRun) -> AsyncIterator[None]:
    """While the block runs, and once at its end, the UI is told how the sweep stands."""
    follower = _Follower(run)
    await follower.begin()
    task = asyncio.create_task(follower.follow())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await follower.tell()


class _Follower:
    def __init__(self, run: SweepRun) -> None:
        self._run = run
        self._link = live_link(run.store.root, run.plan.config.name)
        self._settled: dict[str, CellStanding] = {}
        self._artifact: UUID | None = None
        self._told: dict[tuple[str, str], int] = {}

    async def begin(self) -> None:
        """What failed before is no news of this run."""
        with suppress(Exception):  # nor is it a reason to fail
            _, failures = await asyncio.to_thread(self._look)
            self._told = {(row["kind"], row["model"]): row["count"] for row in failures}

    async def follow(self) -> None:
        while True:
            began = time.monotonic()
            await self.tell()
            await asyncio.sleep(max(_EVERY_S, (time.monotonic() - began) / _SHARE))

    async def tell(self) -> None:
        """Nobody looks at a picture of progress while a server or a database is away, and no sweep fails by it."""
        try:
            now, failures = await asyncio.to_thread(self._look)
            for line in self._news(failures):
                get_run_logger().warning(redact(line))
            text = described(now, self._link)
            if self._artifact is None:
                key = artifact_key("progress", now.sweep)
                self._artifact = await acreate_progress_artifact(100 * now.share, key=key, description=text)
            else:
                await aupdate_progress_artifact(self._artifact, 100 * now.share, description=text)
        except Exception as error:
            get_run_logger().debug("progress could not be shown: %s", error)

    def _look(self) -> tuple[Standing, Failures]:
        run = self._run
        with ledger_to_watch(run.ledger_url) as engine:
            failures = failures_by_kind(engine, run.plan.config.name, run.generation)
            return look(run, engine, self._settled), failures

    def _news(self, failures: Failures) -> Iterator[str]:
        """A line a kind and model of which more have failed since the last look."""
        for row in failures:
            key = row["kind"], row["model"]
            before, self._told[key] = self._told.get(key, 0), row["count"]
            if row["count"] > before:
                yield failure_line(row, row["count"] - before)


def described(now: Standing, link: str | None) -> str:
    """The artifact's text."""
    parts = [f"{now.sweep}: {now.status}", headline(now), *troubles(now)]
    return redact("\n\n".join([*parts, *([f"[live page, with the report so far]({link})"] if link else [])]))


def failure_line(row: Mapping[str, Any], new: int) -> str:
    """`server: 5 more calls of reader failed (12 so far), and are tried again: ...`."""
    calls = f"{new} more call{'s' * (new > 1)} of {row['model']}"
    said = " ".join(str(row["said"] or "no reason given").split())[:_MAX_SAID]
    match row["kind"]:
        case "rate_limit":
            what = f"the endpoint's limit was met by {calls} ({row['count']} so far); all calls of the model slow down"
        case "lost":
            what = f"the end of {calls} was never seen ({row['count']} so far); they may have been billed"
        case kind:
            what = f"{kind}: {calls} failed ({row['count']} so far), and are tried again as its `retries` allow"
    return f"{what}: {said}"
