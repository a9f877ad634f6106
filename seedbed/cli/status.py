"""`seedbed status`: which phases of which cells are done."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from seedbed.analysis.answerers import changes_within
from seedbed.cli.main import EXIT_OK
from seedbed.storage.paths import as_root
from seedbed.storage.store import Store, read_json

if TYPE_CHECKING:
    from seedbed.phases.context import SweepRun


def run(arguments: argparse.Namespace) -> int:
    store = Store(as_root(arguments.out))
    names = [arguments.sweep] if arguments.sweep else store.sweeps()
    if not names:
        print(f"no sweep in {store.root} yet; start one with `seedbed run CONFIG`")
    for name in names:
        _show(store, name, details=arguments.sweep is not None)
    return EXIT_OK


def _answerers(run: SweepRun) -> list[str]:
    """Who answered, a line a model, and what changed about it."""
    from seedbed.lm.ledger.answerers import answerers
    from seedbed.lm.ledger.database import open_database

    engine = open_database(run.ledger_url)
    try:
        rows = answerers(engine, run.plan.config.name, run.generation)
    finally:
        engine.dispose()
    lines: list[str] = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        names = ("answered_by", "fingerprint", "provider", "service_tier")
        shown = ("/".join(str(row[name]) for name in names if row[name]) for row in own)
        lines.append(f"{model} answered by {', '.join(shown)}")
    return lines + changes_within(rows)


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
    for line in _answerers(run):
        print(f"  {line}")
    if details:
        for cell in run.plan.cells:
            print(f"  {cell.title:<48} {', '.join(done[cell.id]) or 'not started'}")
