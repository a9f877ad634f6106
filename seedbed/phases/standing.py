"""How far a run has come, from its files and its calls: the same for the process that does it and for one that looks
on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Engine

from seedbed.errors import UserError
from seedbed.lm.ledger.batch_views import BatchView, Gathering, view_batches, view_gathering
from seedbed.lm.ledger.progress import CallProgress, call_progress
from seedbed.lm.ledger.read_only import ledger_to_watch
from seedbed.phases.context import SweepRun
from seedbed.phases.looks import unfinished
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.store import read_json_if_there
from seedbed.sweep.cell import Cell

RECENT_S = 60.0
"""Over which the rate of calls is taken."""
_STARTING_S = 120.0
"""A run without a call yet is taken to be starting for so long."""

Markers = Mapping[tuple[str, str], Mapping[str, Any]]
"""By cell id and phase."""
CellState = Literal["cached", "done", "running", "failed", "waiting"]


@dataclass(frozen=True, slots=True)
class CellStanding:
    id: str
    title: str
    state: CellState
    phases: Sequence[str] = ()
    """Those that are done."""
    answered: int = 0
    """Samples with an answer in the phase at work."""
    samples: int | None = None
    """Of all that the phase has; None where nobody has begun, or a search decides it."""
    n_phases: int = 2
    finished_at: float | None = None
    size: int | None = None
    """How many samples its benchmark has; None where the run's folder does not say."""

    @property
    def generated(self) -> int:
        """How many of its samples have an answer of the system."""
        if self.state in ("cached", "done") or "generate" in self.phases:
            return self.size or 0
        return self.answered if self.samples is not None else 0

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        if self.state in ("cached", "done", "failed"):
            return 1.0
        now = self.answered / self.samples if self.samples else 0.0
        return (len(self.phases) + min(1.0, now)) / self.n_phases


@dataclass(frozen=True, slots=True)
class Standing:
    sweep: str
    folder: str
    status: str
    """As its summary says; before that `running`, `starting`, or `stopped` where no process is at work on it."""
    cells: Sequence[CellStanding]
    calls: CallProgress
    max_usd: float | None
    elapsed_s: float
    missing: Sequence[Mapping[str, str]] = ()
    """Cells without a result, and why, once the run has ended."""
    batches: Sequence[BatchView] = ()
    """Those that have not ended, with requests of the sweep."""
    gathering: Gathering | None = None
    """Requests of it that wait for a batch."""

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(cell.state for cell in self.cells)
        return {state: found[state] for state in ("done", "cached", "running", "failed", "waiting")}

    @property
    def share(self) -> float:
        return sum(cell.share for cell in self.cells) / len(self.cells) if self.cells else 1.0

    @property
    def samples(self) -> tuple[int, int] | None:
        """How many samples of all cells have an answer, and how many there are."""
        if any(cell.size is None for cell in self.cells):
            return None
        return sum(cell.generated for cell in self.cells), sum(cell.size or 0 for cell in self.cells)

    @property
    def rate(self) -> float:
        """Calls a second, lately."""
        return self.calls.recent / max(1.0, min(RECENT_S, self.elapsed_s))

    @property
    def left_s(self) -> float | None:
        """Seconds to go, if the rest goes as what this run has done; None where that says nothing yet, or a batch is
        waited for, of which nobody knows how long it takes."""
        own = [cell for cell in self.cells if cell.state != "cached"]
        done = sum(cell.share for cell in own)
        waits = bool(self.batches) or self.gathering is not None
        if self.status != "running" or waits or done < 0.02 * len(own) or not done:
            return None
        return self.elapsed_s * (len(own) - done) / done

    def to_json(self, *, cells: bool = True) -> dict[str, Any]:
        """As data; thousands of cells only where they are asked for."""
        names = ("sweep", "folder", "status", "counts", "share", "samples", "max_usd", "elapsed_s", "left_s", "missing")
        of_calls = ("paid", "reused", "tokens", "spent_usd", "at_risk_usd", "at_work")
        return {
            **{name: getattr(self, name) for name in names},
            "calls": {**{name: getattr(self.calls, name) for name in of_calls},
                      "failed": dict(self.calls.failed), "per_s": self.rate},
            **({"cells": [asdict(cell) for cell in self.cells]} if cells else {}),
            "batches": [batch.to_json() for batch in self.batches],
            "gathering": asdict(self.gathering) if self.gathering else None,
        }  # fmt: skip


def standing(run: SweepRun) -> Standing:
    """One look."""
    with looking_at(run) as look:
        return look()


@contextmanager
def looking_at(run: SweepRun) -> Iterator[Callable[[], Standing]]:
    """Look as often as the given function is called; nothing is written. A cell that was seen done is not looked at
    again: with thousands of them only the first look takes long."""
    with ledger_to_watch(run.ledger_url) as engine:
        settled: dict[str, CellStanding] = {}
        yield lambda: look(run, engine, settled)


def look(run: SweepRun, engine: Engine, settled: dict[str, CellStanding]) -> Standing:
    """What is seen now; cells that are done go into `settled`, or come from it."""
    now, began = time.time(), started_at(run.folder.name).timestamp()
    unseen = [cell for cell in run.plan.cells if cell.id not in settled]
    wanted = [Wanted(cell, phase, cell.key(phase)) for cell in unseen for phase in cell.phases]
    markers = done_markers(run.store, wanted, run.generation)
    at_work = [cell.id for cell in unseen if (cell.id, cell.phases[-1]) not in markers]
    calls = call_progress(engine, run.plan.config.name, run.generation, now - RECENT_S, at_work)
    summary = read_json_if_there(run.folder / "summary.json")
    missing = summary["missing"] if summary else []
    failed = {row["cell"] for row in missing}
    going_on = _growing(run) if summary is None else set[str]()
    cells: list[CellStanding] = []
    for cell in run.plan.cells:
        seen = settled.get(cell.id) or _cell(run, cell, calls, began, failed, markers, going_on)
        if seen.finished_at is not None:
            settled[cell.id] = seen
        cells.append(seen)
    name = run.plan.config.name
    batches, waiting = view_batches(engine, name), view_gathering(engine, name)
    # Who waits for batches of before may have begun no call of its own.
    going = calls.at_work or any(batch.at_work for batch in batches)
    status = summary["status"] if summary else _status(cells, going, now - began)
    # Nobody knows when a run died; that it has done something until its last cell is known.
    last = max((cell.finished_at or began for cell in cells), default=began)
    ended = now if status in ("running", "starting") else last
    cap = run.plan.config.budget.max_usd
    took = max(0.0, ended - began)
    return Standing(name, str(run.folder), status, cells, calls, cap, took, missing, batches, waiting)


def started_at(run: str) -> datetime:
    """When a run began: its folder is named by it."""
    return datetime.strptime(run.partition("-")[0], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)


def _status(cells: Sequence[CellStanding], at_work: bool, elapsed_s: float) -> str:
    if at_work:
        return "running"
    begun = any(cell.state in ("done", "running") for cell in cells)
    return "starting" if not begun and elapsed_s < _STARTING_S else "stopped"


def _growing(run: SweepRun) -> set[str]:
    """Cells whose contests are open, so that a finished look is not their end."""
    try:
        return unfinished(run.store, run.plan) if any(cell.in_looks for cell in run.plan.cells) else set()
    except (OSError, UserError):
        # Who looks on may have neither the data nor the plugins.
        return set()


def _cell(
    run: SweepRun, cell: Cell, calls: CallProgress, began: float, failed: set[str], markers: Markers,
    going_on: set[str],
) -> CellStanding:  # fmt: skip
    size = run.samples(cell)
    known: dict[str, Any] = {"id": cell.id, "title": cell.title, "n_phases": len(cell.phases), "size": size}
    last = markers.get((cell.id, cell.phases[-1]))
    asked = None if last is None else last["result"].get("asked")
    if asked is not None and cell.id in going_on:
        known["n_phases"] = 1  # its samples alone say how far it is
        return CellStanding(**known, state="running", answered=asked, samples=size)
    if last is not None:
        known["size"] = size if asked is None else asked
        at = last["finished_at"]
        state: CellState = "cached" if at < began else "done"
        return CellStanding(**known, phases=cell.phases, state=state, finished_at=at)
    done = [phase for phase in cell.phases[:-1] if (cell.id, phase) in markers]
    if cell.title in failed:
        return CellStanding(**known, phases=done, state="failed")
    phase = cell.phases[len(done)]
    answered = calls.answered.get((cell.id, phase))
    if answered is None and not done:
        return CellStanding(**known, state="waiting")
    samples = size if phase != "optimise" else None
    return CellStanding(**known, phases=done, state="running", answered=answered or 0, samples=samples)
