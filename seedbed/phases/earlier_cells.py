"""Cells of earlier runs that are like those of a plan: same system, benchmark and model, maybe with other code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import orjson

from seedbed.storage.objects import subfolders
from seedbed.storage.paths import read_bytes
from seedbed.storage.store import Store
from seedbed.sweep.plan import Plan

_RUNS = 30


def earlier_cells(store: Store, plan: Plan) -> dict[str, Sequence[str]]:
    """By id of a cell, the ids that such cells had in the newest runs of the sweep; an edit gives a cell another."""
    found: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    folder = store.root / "sweeps" / plan.config.name
    stamps = sorted(name for name in subfolders(folder) if "." not in name) if folder.exists() else []
    for stamp in stamps[-_RUNS:]:
        path = folder / stamp / "plan.json"
        if path.exists():
            for cell in orjson.loads(read_bytes(path)).get("cells", ()):
                found[tuple(str(cell[name]) for name in _LIKE)][cell["id"]] = None
    return {cell.id: list(found[tuple(str(getattr(cell, name)) for name in _LIKE)]) for cell in plan.cells}


_LIKE = ("suite", "benchmark", "system", "optimizer", "model")
