"""The sweep: cells fan out, each optimise -> generate -> score; groups are paired; the summary is made and published."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from seedbed.cell import Cell
from seedbed.errors import BudgetReached, Interrupted, SeedbedError
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.run import Phase, is_done
from tasks.aggregate import aggregate, score_group
from tasks.generate import generate
from tasks.policy import PhaseTask
from tasks.publish import publish
from tasks.score import score

CHAIN: tuple[tuple[Phase, PhaseTask], ...] = (("generate", generate), ("score", score))


@dataclass(frozen=True)
class CellOutcome:
    cell: Cell
    failure: str | None
    future: PrefectFuture[Any] | None


def _flow_run_name() -> str:
    run = open_run(flow_run.parameters["folder"])
    return f"{run.plan.config.name} · {run.folder.name}"


@flow(name="sweep", flow_run_name=_flow_run_name, validate_parameters=False)
async def sweep(folder: str) -> State[Any]:
    """Run the sweep whose plan lies in `folder`. One failed cell does not sink the rest; the flow then ends Failed."""
    run = open_run(folder)
    workers = run.plan.config.runner.workers
    at_once = asyncio.Semaphore(workers)
    with ThreadPoolExecutor(workers, thread_name_prefix="seedbed-wait") as waiters:
        outcomes = await asyncio.gather(*(_run_cell(run, cell, at_once, waiters) for cell in run.plan.cells))
        status = _status(run, outcomes)
        await _pair_groups(run, outcomes, waiters)
        failures = {outcome.cell.id: outcome.failure for outcome in outcomes if outcome.failure is not None}
        await _settle(aggregate.submit(folder, failures, status), waiters, must=True)
        await _settle(publish.submit(folder), waiters, must=True)
    return _end_state(status, len(failures), len(outcomes))


async def _run_cell(run: SweepRun, cell: Cell, at_once: asyncio.Semaphore, waiters: ThreadPoolExecutor) -> CellOutcome:
    """The phases of a cell, one after the other. Each is a task; a place is held so that no task waits in a thread."""
    folder, before = str(run.folder), None
    async with at_once:
        for phase, task in CHAIN:
            try:
                run.runtime().check_stop()
            except SeedbedError as reason:
                return CellOutcome(cell, str(reason), None)
            # A cached result is only believed while the files it speaks of are there.
            current = await asyncio.get_running_loop().run_in_executor(waiters, is_done, folder, cell.id, phase)
            submitted = (task if current else task.with_options(refresh_cache=True)).submit(
                folder, cell.id, wait_for=[before] if before else None
            )
            state = await _settle(submitted, waiters)
            if not state.is_completed():
                return CellOutcome(cell, _reason(state), submitted)
            before = submitted
    return CellOutcome(cell, None, before)


async def _pair_groups(run: SweepRun, outcomes: list[CellOutcome], waiters: ThreadPoolExecutor) -> None:
    done = {outcome.cell.id: outcome.future for outcome in outcomes if outcome.failure is None}
    for group, cells in run.plan.groups().items():
        finished = [cell.id for cell in cells if cell.id in done]
        if finished:
            before = [done[id] for id in finished]
            await _settle(score_group.submit(str(run.folder), group, finished, wait_for=before), waiters, must=True)


async def _settle(future: PrefectFuture[Any], waiters: ThreadPoolExecutor, *, must: bool = False) -> State[Any]:
    """Wait for a task without blocking the others; `must` raises what it failed with."""
    await asyncio.get_running_loop().run_in_executor(waiters, future.wait)
    if must and not future.state.is_completed():
        await future.state.result(raise_on_failure=True)  # type: ignore[misc]
    return future.state


def _reason(state: State[Any]) -> str:
    error = state.result(raise_on_failure=False)
    return str(error) if isinstance(error, BaseException) else state.message or state.name or "unknown"


def _status(run: SweepRun, outcomes: list[CellOutcome]) -> str:
    try:
        run.runtime().check_stop()
    except BudgetReached:
        return "budget_reached"
    except Interrupted:
        return "interrupted"
    except SeedbedError:
        return "failed"
    return "partial" if any(outcome.failure for outcome in outcomes) else "completed"


def _end_state(status: str, failed: int, total: int) -> State[Any]:
    data = {"status": status, "failed": failed, "cells": total}
    message = f"{status}: {total - failed} of {total} cells have results"
    match status:
        case "completed":
            return Completed(data=data, message=message)
        case "interrupted":
            return Cancelled(data=data, message=message)
        case _:
            return Failed(data=data, message=message)
