"""The sweep: cells fan out, each optimise -> generate -> score; groups are paired; the summary is published."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from prefect import Flow, flow, get_client, get_run_logger
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.runtime import flow_run

from flows.cancel import stopped_by_cancellation
from flows.progress import followed
from flows.runners import task_runner, why_lost
from flows.states import state_of
from flows.subflow import explained
from seedbed.errors import BudgetReached, CellFailed, Interrupted, SeedbedError, SweepStopped, Unreachable
from seedbed.lm.runtime import stop_asked
from seedbed.local.roots import remember_flow_run, remember_root
from seedbed.phases.aggregate import GroupKey
from seedbed.phases.changes import Ran, stale, summarise, write_ran
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.growing import Growing, growing
from seedbed.phases.progress import report
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.store import read_json_if_there
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.config import RunnerConfig
from tasks.aggregate import aggregate, score_groups
from tasks.artifacts import publish
from tasks.phase import STEP_TASKS, Step

_SHOWN_CACHED = 200
"""So many finished cells come back Cached, task by task. Of more, one line in the log says as much and costs a
hundredth."""
_PAIR_TASKS = 50
"""Groups are paired in about so many tasks at most."""


_NOTHING = Ran()


@dataclass(frozen=True)
class Turn:
    """What cells share that run at once."""

    run: SweepRun
    at_once: asyncio.Semaphore
    waiters: ThreadPoolExecutor
    finished: set[str]
    """Cells that were done when the run began."""


@dataclass(frozen=True)
class CellOutcome:
    cell: Cell
    error: Exception | None
    futures: tuple[PrefectFuture[Any], ...]
    """The last task of the cell, for the edges of the run's graph; empty if none was started."""
    ran: Ran = _NOTHING

    @property
    def failure(self) -> str | None:
        return None if self.error is None else str(self.error)


def _flow_run_name() -> str:
    run = open_run(flow_run.parameters["folder"])
    return f"{run.plan.config.name} · {run.folder.name}"


@flow(name="sweep", flow_run_name=_flow_run_name, validate_parameters=False)
async def sweep(folder: str) -> State[Any]:
    """Run the sweep whose plan lies in `folder`. One failed cell does not sink the rest; the flow then ends Failed."""
    return await explained(lambda: _sweep(folder))


async def _sweep(folder: str) -> State[Any]:
    run = open_run(folder)
    _remember(run)
    await _tag(run)
    workers = run.plan.config.runner.workers
    with ThreadPoolExecutor(workers, thread_name_prefix="seedbed-wait") as waiters:
        async with followed(run):
            async with stopped_by_cancellation(run):
                outcomes = await _run_all(run, waiters)
            status = _status(run, outcomes)
            _say_what_ran(run, outcomes)
            await _pair_groups(run, outcomes, waiters)
            failures = {outcome.cell.id: outcome.failure for outcome in outcomes if outcome.failure is not None}
            await _here(waiters, lambda: aggregate(folder, failures, status))
        await _here(waiters, lambda: publish(folder))
    return state_of(status, f"{len(outcomes) - len(failures)} of {len(outcomes)} cells have results")


async def _run_all(run: SweepRun, waiters: ThreadPoolExecutor) -> list[CellOutcome]:
    """All that are not finished, as many at once as there are workers."""
    finished = await asyncio.get_running_loop().run_in_executor(waiters, _finished, run)
    turn = Turn(run, asyncio.Semaphore(run.plan.config.runner.workers), waiters, finished)
    before = finished if len(finished) > _SHOWN_CACHED else set[str]()
    if before:
        get_run_logger().info("%d of %d cells were finished before", len(before), len(run.plan.cells))
    cells = [cell for cell in run.plan.cells if cell.id not in before]
    grows = [] if run.rescore else growing(run)
    own = {cell for group in grows for cell in group.cells}
    found = await asyncio.gather(
        _run_cells(turn, [cell for cell in cells if cell.id not in own]),
        *(_run_in_looks(turn, group) for group in grows),
    )
    outcomes = [outcome for part in found for outcome in part]
    return [*outcomes, *(CellOutcome(cell, None, ()) for cell in run.plan.cells if cell.id in before)]


def _remember(run: SweepRun) -> None:
    """For the page of `seedbed ui`."""
    try:
        remember_root(run.store.root, ran=True)
        remember_flow_run(run.folder, flow_run.id)
    except OSError as error:
        # A worker elsewhere may have no home of its own.
        get_run_logger().debug("the page of `seedbed ui` will not show this run: %s", error)


def sweep_on(runner: RunnerConfig) -> Flow[[str], Any]:
    """The sweep flow with its tasks on the runner that the config asks for."""
    return sweep.with_options(task_runner=task_runner(runner))


def _say_what_ran(run: SweepRun, outcomes: list[CellOutcome]) -> None:
    lines = summarise(outcome.ran for outcome in outcomes)
    for line in lines:
        get_run_logger().info(line)
    write_ran(run, lines)


async def _tag(run: SweepRun) -> None:
    """Suites, benchmarks and models as tags of the run. Not of its tasks: Prefect asks the server for a slot for every
    tag of a task, which takes longer than the task, and their names say as much."""
    names = {name for cell in run.plan.cells for name in (cell.suite, cell.benchmark, cell.model)}
    async with get_client() as client:
        await client.update_flow_run(UUID(flow_run.id), tags=sorted({*flow_run.tags, *names}))


async def _run_cells(turn: Turn, cells: Sequence[Cell], look: int | None = None) -> list[CellOutcome]:
    ended = {cell.id: asyncio.Event() for cell in cells}
    return await asyncio.gather(*(_run_cell(turn, cell, ended, look) for cell in cells))


async def _run_in_looks(turn: Turn, group: Growing) -> list[CellOutcome]:
    """Cells whose contests are decided together: look after look, each with what the one before left open."""
    run, loop = turn.run, asyncio.get_running_loop()
    found: dict[str, CellOutcome] = {}
    for look in range(1, group.looks + 1):
        wanted = await loop.run_in_executor(turn.waiters, group.open_cells, run, look)
        cells = [run.plan.cell(cell) for cell in group.cells if cell in wanted and _well(found.get(cell))]
        if not cells or _stop_reason(run) is not None:
            break
        for outcome in await _run_cells(turn, cells, look):
            before = found.get(outcome.cell.id)
            ran = outcome.ran if before is None else before.ran.and_then(outcome.ran)
            found[outcome.cell.id] = replace(outcome, ran=ran)
        for line in await loop.run_in_executor(turn.waiters, group.look, run, look):
            get_run_logger().info(line)
    stopped = _stop_reason(run)
    return [found.get(cell) or CellOutcome(run.plan.cell(cell), stopped, ()) for cell in group.cells]


def _well(outcome: CellOutcome | None) -> bool:
    return outcome is None or outcome.error is None


async def _run_cell(turn: Turn, cell: Cell, ended: Mapping[str, asyncio.Event], look: int | None = None) -> CellOutcome:
    """A cell in its turn, after those whose answers it reuses or compares with; its outcome goes into the run's log."""
    for other in turn.run.plan.first(cell):
        if other.id in ended:
            await ended[other.id].wait()
    try:
        async with turn.at_once:
            outcome = await _run_phases(turn, cell, look)
    finally:
        ended[cell.id].set()
    if outcome.failure is None:
        get_run_logger().info("%s: done%s", cell.title, f" up to look {look}" if look else "")
        _tell_of_answers(turn.run, cell, outcome.ran)
    else:
        get_run_logger().error("%s: %s", cell.title, outcome.failure)
    return outcome


def _tell_of_answers(run: SweepRun, cell: Cell, ran: Ran) -> None:
    marker = read_json_if_there(run.store.cell_dir(cell) / "done" / "generate.json")
    if marker is None:
        return
    total, lost = marker["result"]["n"], marker["result"].get("n_errors", 0)
    if lost:
        told = "%s: %d of %d samples have no answer after all retries and count as errors"
        get_run_logger().warning(told, cell.title, lost, total)
    if run.plan.config.runner.remote:
        # Its samples were counted where it ran: who listens here hears of them now.
        for phase in ran.phases:
            if phase != "optimise":
                report(cell, phase, total, total)


async def _run_phases(turn: Turn, cell: Cell, look: int | None = None) -> CellOutcome:
    """The phases of a cell, task after task."""
    run, waiters = turn.run, turn.waiters
    folder = str(run.folder)
    before: tuple[PrefectFuture[Any], ...] = ()
    ran = Ran()
    loop = asyncio.get_running_loop()
    if run.rescore and await loop.run_in_executor(waiters, stale, run, cell, "generate") is not None:
        return CellOutcome(cell, CellFailed("has no stored answers to score; `seedbed run` makes them"), before)
    for planned in _steps(run, cell):
        if (reason := _stop_reason(run)) is not None:
            return CellOutcome(cell, reason, before, ran)
        step, cause = planned, None
        if cell.id not in turn.finished:
            step, cause = await loop.run_in_executor(waiters, _due, run, cell, planned, look)
        if cause is None and look is not None and look > 1:
            # That it is done up to here was shown at the first look.
            continue
        if cause is not None:
            ran = Ran((*ran.phases, *step), ran.cause or cause)
        # The marker alone says what is done; a cached result is only believed beside it.
        chosen = STEP_TASKS[step].with_options(refresh_cache=cause is not None)
        submitted = chosen.submit(folder, cell.id, None if step == ("optimise",) else look, wait_for=before)
        state = await _settle(submitted, waiters)
        if not state.is_completed():
            return CellOutcome(cell, await _error(run, state), (submitted,), ran)
        before = (submitted,)
    return CellOutcome(cell, None, before, ran)


def _due(run: SweepRun, cell: Cell, step: Step, look: int | None) -> tuple[Step, str | None]:
    """What of a step has to be done, and why; all of it, and no cause, where everything is done."""
    for place, phase in enumerate(step):
        if (cause := stale(run, cell, phase, look)) is not None:
            return step[place:], cause
    return step, None


def _finished(run: SweepRun) -> set[str]:
    """Ids of the cells that need nothing."""
    cells = [cell for cell in run.plan.cells if not cell.in_looks]
    wanted = [Wanted(cell, phase, cell.key(phase)) for cell in cells for phase in _phases(run, cell)]
    found = done_markers(run.store, wanted, run.generation)
    return {cell.id for cell in cells if all((cell.id, phase) in found for phase in _phases(run, cell))}


def _phases(run: SweepRun, cell: Cell) -> tuple[Phase, ...]:
    return cell.phases[-1:] if run.rescore else cell.phases


def _steps(run: SweepRun, cell: Cell) -> list[Step]:
    """The phases of a cell by task. A search is one of its own; answers are scored by the task that got them, since a
    task costs Prefect more than most scorers cost."""
    phases = _phases(run, cell)
    return [("optimise",), phases[1:]] if phases[0] == "optimise" else [phases]


async def _pair_groups(run: SweepRun, outcomes: list[CellOutcome], waiters: ThreadPoolExecutor) -> None:
    done = {outcome.cell.id: outcome.futures for outcome in outcomes if outcome.failure is None}
    groups = [
        (group, finished)
        for group, cells in run.plan.groups().items()
        if (finished := [cell.id for cell in cells if cell.id in done])
    ]
    size = math.ceil(len(groups) / _PAIR_TASKS) or 1
    parts = [groups[at : at + size] for at in range(0, len(groups), size)]

    def pair(part: list[tuple[GroupKey, list[str]]]) -> None:
        before = [future for _, finished in part for cell_id in finished for future in done[cell_id]]
        score_groups(str(run.folder), part, wait_for=before)  # pyright: ignore[reportCallIssue]

    await asyncio.gather(*(_here(waiters, partial(pair, part)) for part in parts))


async def _settle(future: PrefectFuture[Any], waiters: ThreadPoolExecutor) -> State[Any]:
    """Wait for a task without blocking the others."""
    await asyncio.get_running_loop().run_in_executor(waiters, future.wait)
    return future.state


async def _here(waiters: ThreadPoolExecutor, work: Callable[[], object]) -> None:
    """Run a task in this process, whatever the runner is: what there is of a sweep is published without the cluster,
    which may be gone. Raises what it failed with."""
    await asyncio.get_running_loop().run_in_executor(waiters, copy_context().run, work)


async def _error(run: SweepRun, state: State[Any]) -> Exception:
    """What a task failed with; one that never ended was lost with its worker."""
    if not state.is_final():
        return CellFailed(why_lost(run.plan.config.runner))
    error = await state.aresult(raise_on_failure=False)
    return error if isinstance(error, Exception) else CellFailed(state.message or state.name or "unknown")


def _stop_reason(run: SweepRun) -> SeedbedError | None:
    """Why nothing further is to be started. On a cluster this process makes no calls and needs no runtime."""
    return stop_asked() if run.plan.config.runner.remote else run.runtime().stop_reason


def _status(run: SweepRun, outcomes: list[CellOutcome]) -> str:
    reasons = [outcome.error for outcome in outcomes if outcome.error is not None]
    stops = [reason for reason in (*reasons, _stop_reason(run)) if isinstance(reason, SweepStopped)]
    if any(isinstance(stop, Interrupted) for stop in stops):
        return "interrupted"
    if any(isinstance(stop, Unreachable) for stop in stops):
        return "unreachable"
    if any(not isinstance(stop, BudgetReached) for stop in stops):
        return "failed"
    if stops:
        return "budget_reached"
    return "partial" if reasons else "completed"
