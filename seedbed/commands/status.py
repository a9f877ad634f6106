"""`seedbed status`: which phases of which cells are done."""

from __future__ import annotations

import argparse
from pathlib import Path

from seedbed.cli import EXIT_OK
from seedbed.paths import as_root
from seedbed.plan import read_plan
from seedbed.store import Store, read_json

_PHASES = ("optimise", "generate", "score")


def run(arguments: argparse.Namespace) -> int:
    store = Store(as_root(arguments.out))
    names = [arguments.sweep] if arguments.sweep else store.sweeps()
    if not names:
        print(f"no sweep in {store.root} yet; start one with `seedbed run CONFIG`")
    for name in names:
        _show(store, name, details=arguments.sweep is not None)
    return EXIT_OK


def _show(store: Store, name: str, *, details: bool) -> None:
    folder = store.latest_sweep(name)
    plan = read_plan(folder / "plan.json")
    done = {cell.id: _finished(store, cell.id, store.cell_dir(cell)) for cell in plan.cells}
    complete = sum("score" in phases for phases in done.values())
    summary = folder / "summary.json"
    status = read_json(summary)["status"] if summary.exists() else "not finished"
    print(f"{name}: {complete} of {len(plan.cells)} cells scored, {status}  {folder}")
    if details:
        for cell in plan.cells:
            print(f"  {cell.title:<48} {', '.join(done[cell.id]) or 'not started'}")


def _finished(store: Store, cell_id: str, folder: Path) -> list[str]:
    markers = {phase: folder / "done" / f"{phase}.json" for phase in _PHASES}
    return [phase for phase, path in markers.items() if path.exists() and read_json(path)["cell_id"] == cell_id]
