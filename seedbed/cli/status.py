"""`seedbed status`: how far sweeps have come."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from seedbed.analysis.answerers import changes_within
from seedbed.cli.main import EXIT_OK
from seedbed.storage.paths import as_root
from seedbed.storage.redact import redact
from seedbed.storage.store import Store

if TYPE_CHECKING:
    from seedbed.phases.context import SweepRun


def run(arguments: argparse.Namespace) -> int:
    store = Store(as_root(arguments.out))
    names = [arguments.sweep] if arguments.sweep else store.sweeps()
    if not names and not arguments.json:
        print(f"no sweep in {store.root} yet; start one with `seedbed run CONFIG`")
    if arguments.json:
        print(json.dumps([_data(store, name) for name in names], indent=2))
        return EXIT_OK
    for name in names:
        _show(store, name, details=arguments.sweep is not None)
    return EXIT_OK


def _data(store: Store, name: str) -> dict[str, Any]:
    from seedbed.phases.context import read_run
    from seedbed.phases.standing import standing

    return standing(read_run(store.latest_sweep(name), plugins=False)).to_json()


def _answerers(run: SweepRun) -> list[str]:
    """Who answered, a line a model, and what changed about it."""
    from seedbed.lm.ledger.answerers import answerers
    from seedbed.lm.ledger.read_only import ledger_to_watch

    with ledger_to_watch(run.ledger_url) as engine:
        rows = answerers(engine, run.plan.config.name, run.generation)
    lines: list[str] = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        names = ("answered_by", "fingerprint", "provider", "service_tier")
        shown = ("/".join(str(row[name]) for name in names if row[name]) for row in own)
        lines.append(f"{model} answered by {', '.join(shown)}")
    return lines + changes_within(rows)


def _show(store: Store, name: str, *, details: bool) -> None:
    from seedbed.local.board import batch_lines, headline, progress_words, troubles
    from seedbed.phases.context import read_run
    from seedbed.phases.standing import standing
    from seedbed.report.screen import folded, screen_width

    run = read_run(store.latest_sweep(name), plugins=False)
    now = standing(run)
    print(folded(f"{name}: {now.status}, {headline(now)} · {run.folder}", screen_width()))
    for line in (*troubles(now), *batch_lines(now), *_answerers(run)):
        print(folded(line, screen_width(), "  "))
    if not details:
        return
    reasons = {row["cell"]: row["reason"] for row in now.missing}
    for cell in now.cells:
        state = " ".join(progress_words(cell)) if cell.state == "running" else cell.state
        print(redact(f"  {cell.title:<48} {state}{': ' + reasons[cell.title] if cell.title in reasons else ''}"))
