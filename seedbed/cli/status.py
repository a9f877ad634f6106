"""`seedbed status`: which phases of which cells are done."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_OK
from seedbed.storage.paths import as_root
from seedbed.storage.store import Store, read_json


def run(arguments: argparse.Namespace) -> int:
    store = Store(as_root(arguments.out))
    names = [arguments.sweep] if arguments.sweep else store.sweeps()
    if not names:
        print(f"no sweep in {store.root} yet; start one with `seedbed run CONFIG`")
    for name in names:
        _show(store, name, details=arguments.sweep is not None)
    return EXIT_OK


def _show(store: Store, name: str, *, details: bool) -> None:
    from seedbed.phases.context import open_run

    run = open_run(str(store.latest_sweep(name)))
    done = {
        cell.id: [p for p in cell.phases if run.store.done(cell, p, cell.key(p), run.generation) is not None]
        for cell in run.plan.cells
    }
    complete = sum("score" in phases for phases in done.values())
    summary = run.folder / "summary.json"
    status = read_json(summary)["status"] if summary.exists() else "not finished"
    print(f"{name}: {complete} of {len(done)} cells scored, {status}  {run.folder}")
    if details:
        for cell in run.plan.cells:
            print(f"  {cell.title:<48} {', '.join(done[cell.id]) or 'not started'}")
