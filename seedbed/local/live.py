"""What the page of `seedbed ui` shows: sweeps and their runs, from files and ledgers that are only read.

A run is looked at when somebody asks, at most every second, and less often where a look takes long. What all of its
cells or calls are is told on demand, a screenful at a time.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from seedbed.errors import UserError
from seedbed.lm.ledger.read_only import ledger_to_watch
from seedbed.lm.ledger.recent import failures_by_kind, latest_calls, one_call, spent_over_time
from seedbed.local.board import batch_lines, progress_words, troubles
from seedbed.local.growing import Growing
from seedbed.local.roots import Root, flow_run_of, known_roots
from seedbed.phases.context import read_run
from seedbed.phases.standing import CellStanding, Standing, look, started_at
from seedbed.report.console import verdict_lines
from seedbed.report.transcript import received, sent
from seedbed.storage.objects import subfolders
from seedbed.storage.store import Store, read_json

_AT_LEAST_S = 1.0
_AT_MOST_S = 60.0
_SHARE = 0.05
"""Of a core that may go into looking."""
_KEPT = 6
"""Runs whose plans are kept in memory."""
_RUNNING, _CALLS, _CELLS = 8, 40, 100
_SLICES = 60
"""Into so many the time of a run is cut for its curve."""


class Watched:
    """One run that somebody looks at."""

    def __init__(self, folder: Path, root: Root) -> None:
        self.folder, self.root = folder, root
        # Without its plugins: code of a sweep has no business in this process.
        self._run = read_run(folder, plugins=False)
        self._settled: dict[str, CellStanding] = {}
        self._growing = Growing(self._run)
        self._next = 0.0
        self._lock = Lock()
        self._told: dict[str, Any] = {}
        self._standing: Standing | None = None

    def told(self) -> dict[str, Any]:
        """All that the page shows at once."""
        with self._lock:
            if time.monotonic() >= self._next:
                began = time.thread_time()
                self._told = self._look()
                rest = (time.thread_time() - began) / _SHARE
                self._next = time.monotonic() + min(max(_AT_LEAST_S, rest), _AT_MOST_S)
            return self._told

    def cells(self, state: str, find: str, offset: int) -> dict[str, Any]:
        """A screenful of cells in a state, or of all, whose titles have a text."""
        self.told()
        assert self._standing is not None
        words = find.lower().split()
        found = [
            cell
            for cell in self._standing.cells
            if state in ("", cell.state) and all(word in cell.title.lower() for word in words)
        ]
        shown = [_cell(cell) for cell in found[offset : offset + _CELLS]]
        return {"total": len(found), "offset": offset, "cells": shown}

    def call(self, number: int) -> dict[str, Any]:
        """One call, message by message."""
        with ledger_to_watch(self._run.ledger_url) as engine:
            found = one_call(engine, self._run.plan.config.name, number)
        if found is None:
            raise UserError(f"there is no call {number} of this sweep.")
        parts = {"sent": sent(found), "received": received(found)}
        return {**{name: value for name, value in found.items() if name not in ("request", "response")}, **parts}

    def close(self) -> None:
        self._growing.close()

    def _look(self) -> dict[str, Any]:
        run, sweep = self._run, self._run.plan.config.name
        began = started_at(self.folder.name).timestamp()
        with ledger_to_watch(run.ledger_url) as engine:
            now = look(run, engine, self._settled)
            width = max(1.0, now.elapsed_s / _SLICES)
            series = spent_over_time(engine, sweep, run.generation, began, width)
            failures = failures_by_kind(engine, sweep, run.generation)
            calls = latest_calls(engine, sweep, run.generation, _CALLS)
        self._standing = now
        titles = {cell.id: cell.title for cell in run.plan.cells}
        running = sorted((cell for cell in now.cells if cell.state == "running"), key=lambda cell: cell.share)
        return {
            **now.to_json(cells=False),
            "run": self.folder.name,
            "began": began,
            "n_cells": len(now.cells),
            "troubles": list(troubles(now)),
            "waits": list(batch_lines(now)),
            "running": [{**_cell(cell), "phase": progress_words(cell)[0]} for cell in running[:_RUNNING]],
            "series": {"width_s": width, "slices": series},
            "failures": failures,
            "calls": {**now.to_json(cells=False)["calls"], "latest": [_titled(call, titles) for call in calls]},
            "report": self._report(now),
            "flow_run": flow_run_of(self.folder),
        }

    def _report(self, now: Standing) -> dict[str, Any]:
        """The report of the run, or what there is of it so far, with what it says in words."""
        done = {"cells": now.counts["done"] + now.counts["cached"], "making": False}
        if (self.folder / "report.html").exists():
            return {**done, "final": True, "root": self.root.path, "file": self._file(self.root.path, self.folder),
                    "verdicts": _verdicts(self.folder)}  # fmt: skip
        if not self.root.ran:
            return {**done, "cells": 0, "final": False}
        growing = self._growing
        found = growing.look(done["cells"])
        if "cells" not in found:
            return {"final": False, "cells": 0, **found}
        return {**found, "final": False, "root": growing.root, "file": self._file(growing.root, growing.folder),
                "verdicts": _verdicts(growing.folder)}  # fmt: skip

    @staticmethod
    def _file(root: Path, folder: Path) -> str:
        return (folder / "report.html").relative_to(root).as_posix()


class Live:
    """All sweeps of the folders that are shown."""

    def __init__(self) -> None:
        self._watched: OrderedDict[Path, Watched] = OrderedDict()
        self._ended: dict[Path, tuple[float, dict[str, Any]]] = {}
        self._lock = Lock()

    def sweeps(self) -> list[dict[str, Any]]:
        """The newest run of each sweep, the newest first."""
        found = [entry for root in known_roots() for entry in self._sweeps(root)]
        return sorted(found, key=lambda entry: entry["run"], reverse=True)

    def run(self, root_id: str, sweep: str, run: str | None = None) -> Watched:
        """A run of a sweep, the newest if none is named."""
        root = next((root for root in known_roots() if root.id == root_id), None)
        if root is None:
            raise UserError("these results are not shown here; `seedbed ui --out DIR` shows a folder.")
        store = Store(root.path)
        if sweep not in store.sweeps():
            raise UserError(f"{root.path}: there is no sweep {sweep!r}.")
        folder = store.latest_sweep(sweep) if run is None else root.path / "sweeps" / sweep / run
        if run is not None and run not in runs_of(root, sweep):
            raise UserError(f"{sweep}: there is no run {run!r}.")
        with self._lock:
            if folder not in self._watched:
                self._watched[folder] = Watched(folder, root)
            self._watched.move_to_end(folder)
            while len(self._watched) > _KEPT:
                self._watched.popitem(last=False)[1].close()
            return self._watched[folder]

    def close(self) -> None:
        for watched in self._watched.values():
            watched.close()

    def _sweeps(self, root: Root) -> Iterator[dict[str, Any]]:
        store = Store(root.path)
        for name in store.sweeps():
            folder = store.latest_sweep(name)
            entry = {"root": root.id, "folder": str(root.path), "sweep": name, "run": folder.name,
                     "began": started_at(folder.name).timestamp()}  # fmt: skip
            try:
                yield {**entry, **self._standing(root, name, folder)}
            except (UserError, OSError, ValueError, KeyError) as error:
                yield {**entry, "status": "unreadable", "why": str(error)}

    def _standing(self, root: Root, sweep: str, folder: Path) -> dict[str, Any]:
        """How a run ended, read once; or how it stands."""
        summary = folder / "summary.json"
        if not summary.exists():
            told = self.run(root.id, sweep).told()
            kept = ("status", "share", "n_cells", "counts", "left_s", "max_usd")
            return {**{name: told[name] for name in kept}, "spent_usd": told["calls"]["spent_usd"]}
        changed = summary.stat().st_mtime
        if self._ended.get(summary, (0.0, {}))[0] != changed:
            self._ended[summary] = changed, _ending(read_json(summary))
        return self._ended[summary][1]


def runs_of(root: Root, sweep: str) -> list[str]:
    """All runs of a sweep, the newest first."""
    folder = root.path / "sweeps" / sweep
    return [name for name in reversed(subfolders(folder)) if (folder / name / "plan.json").exists()]


def _ending(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Of a finished run; what one of its calls cost is None where nobody knows the price."""
    total, missing = summary["n_cells"], len(summary["missing"])
    spent = [row["spent_usd"] for row in summary["costs"] if row["outcome"] != "reused"]
    return {
        "status": summary["status"],
        "share": 1.0,
        "n_cells": total,
        "counts": {"done": total - missing, "cached": 0, "running": 0, "failed": missing, "waiting": 0},
        "left_s": None,
        "max_usd": None,
        "spent_usd": None if None in spent else sum(spent),
    }


def _cell(cell: CellStanding) -> dict[str, Any]:
    return {**asdict(cell), "share": cell.share}


def _titled(call: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    """A call under its cell's title; its number as a text, since it is longer than JavaScript's numbers."""
    ended = call["started_at"] + (call["latency_s"] or 0.0)
    return {**call, "id": str(call["id"]), "cell": titles.get(call["cell"], call["cell"]), "ended_at": ended}


def _verdicts(folder: Path) -> list[str]:
    try:
        return [line for line in verdict_lines(read_json(folder / "summary.json")) if line]
    except (OSError, ValueError, UserError):
        return []
