"""Registering deployments, their work pool and the automations that watch them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from prefect import get_client
from prefect.automations import Automation
from prefect.blocks.core import Block
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.schedules import CronSchedule
from prefect.events.actions import ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import EventTrigger, Posture
from prefect.exceptions import ObjectAlreadyExists

from flows.compat import block_id
from seedbed.errors import UserError

SILENT_FOR = timedelta(seconds=90)
"""A run whose process sends a heartbeat every 30 s and is not heard of for this long is dead."""
_ALIVE = "prefect.flow-run.heartbeat"
_OVER = {f"prefect.flow-run.{name}" for name in ("Completed", "Failed", "Cancelled", "Crashed", "Inconclusive")}


def check_schedule(cron: str, timezone: str) -> None:
    """Refuse what the scheduler would refuse."""
    try:
        CronSchedule(cron=cron)
    except ValueError:
        raise UserError(f"--cron {cron!r} is no cron expression; '0 3 * * *' is every night at three.") from None
    try:
        CronSchedule(cron=cron, timezone=timezone)
    except ValueError:
        raise UserError(f"--timezone {timezone!r} is unknown; give a name such as Europe/Berlin or UTC.") from None


async def make_pool(name: str) -> None:
    """A pool whose workers run flows as processes on their own machine."""
    async with get_client() as client:
        try:
            await client.create_work_pool(WorkPoolCreate(name=name, type="process"))
        except ObjectAlreadyExists:
            pool = await client.read_work_pool(name)
            if pool.type != "process":
                raise UserError(
                    f"work pool {name!r} is of type {pool.type}, but Seedbed's workers are processes; take another."
                ) from None


def register(file: Path, values: Mapping[str, str]) -> None:
    """Register the deployments of a prefect.yaml, with `values` for what stands in {{ $NAME }} there."""
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file)]
    done = subprocess.run(command, env={**os.environ, **values}, capture_output=True, text=True)  # noqa: S603
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UserError(f"{file}: the deployments could not be registered ({said[-1] if said else 'no reason given'}).")


async def watch(notify: str | None) -> list[str]:
    """Make (or renew) the automations; returns what each does."""
    told: list[Automation] = [dead_runs()]
    if notify is not None:
        told.append(bad_nights(notify, await _block_id(notify)))
    for automation in told:
        await _renew(automation)
    return [automation.description for automation in told]


def dead_runs() -> Automation:
    return Automation(
        name="seedbed: dead runs",
        description=f"runs not heard of for {SILENT_FOR.seconds} s are marked Crashed",
        trigger=EventTrigger(
            posture=Posture.Proactive,
            after={_ALIVE},
            expect={_ALIVE, *_OVER},
            match={"prefect.resource.id": "prefect.flow-run.*"},  # pyright: ignore[reportArgumentType]
            for_each={"prefect.resource.id"},
            threshold=1,
            within=SILENT_FOR,
        ),
        actions=[
            ChangeFlowRunState(
                name="Crashed",
                state=StateType.CRASHED,
                force=False,
                message=f"Not heard of for {SILENT_FOR.seconds} s: its process or machine is gone. "
                "What was paid for is kept; the next run goes on from there.",
            )
        ],
    )


def bad_nights(slug: str, block: UUID) -> Automation:
    return Automation(
        name="seedbed: bad nights",
        description=f"a nightly that fails, crashes or is inconclusive is told to {slug}",
        trigger=EventTrigger(
            posture=Posture.Reactive,
            expect={f"prefect.flow-run.{name}" for name in ("Failed", "Crashed", "Inconclusive")},
            match={"prefect.resource.id": "prefect.flow-run.*"},  # pyright: ignore[reportArgumentType]
            match_related={"prefect.resource.role": "flow", "prefect.resource.name": "nightly"},  # pyright: ignore[reportArgumentType]
            for_each={"prefect.resource.id"},
            threshold=1,
        ),
        actions=[
            SendNotification(
                block_document_id=block,
                subject="Nightly {{ flow_run.name }}: {{ flow_run.state.name }}",
                body="{{ flow_run.state.message }}\n\n{{ flow_run|ui_url }}",
            )
        ],
    )


async def _block_id(slug: str) -> UUID:
    try:
        block = await Block.aload(slug)  # pyright: ignore[reportUnknownVariableType]
    except ValueError:
        raise UserError(
            f"--notify {slug}: the server has no such block; make it in the UI under Blocks and give TYPE/NAME."
        ) from None
    if not hasattr(block, "notify"):
        raise UserError(f"--notify {slug}: not a notification block; take one such as slack-webhook/NAME.")
    return block_id(block)


async def _renew(automation: Automation) -> None:
    """One automation a name, as defined now."""
    async with get_client() as client:
        for old in await client.read_automations_by_name(automation.name):
            await client.delete_automation(old.id)
    await automation.acreate()
