"""How many cases of a cell have been asked, where it grows look by look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seedbed.phases.context import SweepRun
from seedbed.storage.store import read_json
from seedbed.sweep.cell import Cell, Phase


def to_ask(run: SweepRun, cell: Cell, phase: Phase, look: int | None) -> int | None:
    """Cases that a phase has to have done by a look; None where it has all at once. Without a look that is all, and of
    scores those that have been answered."""
    looks = run.plan.looks(cell)
    if looks is None or phase == "optimise":
        return None
    if look is None:
        return asked_of(run, cell) if phase == "score" else looks.planned
    return looks.ends[look - 1]


def covers(marker: Mapping[str, Any], asked: int | None) -> bool:
    """Whether a finished phase has done so many cases."""
    return asked is None or marker["result"].get("asked", 0) >= asked


def asked_of(run: SweepRun, cell: Cell) -> int | None:
    """Cases of the order that the cell's answers are of; None of a cell that has all at once, or none."""
    path = run.store.cell_dir(cell) / "done" / "generate.json"
    return read_json(path)["result"].get("asked") if cell.in_looks and path.exists() else None
