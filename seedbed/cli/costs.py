"""`seedbed costs`: the account of a sweep, from the ledger."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.cli.main import EXIT_OK
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import cost_sums
from seedbed.lm.ledger.settled import settle
from seedbed.phases.context import open_run
from seedbed.phases.summary import cost_table, dollars
from seedbed.report.screen import aligned, screen_width
from seedbed.storage.paths import as_root
from seedbed.storage.store import Store, read_json


def run(arguments: argparse.Namespace) -> int:
    store = Store(as_root(arguments.out))
    run = open_run(str(store.latest_sweep(arguments.sweep)))
    engine = open_database(run.ledger_url)
    settle(engine)
    rows = [*cost_sums(engine, arguments.sweep), *_uncounted(run.folder / "summary.json")]
    engine.dispose()
    columns, cells = cost_table(rows)
    for line in aligned([columns, *cells], screen_width()):
        print(line)
    print(f"\nspent ${_sum(rows, 'spent_usd')}, of which nothing was paid twice: reused calls cost $0.")
    at_risk = sum(row["at_risk_usd"] or 0.0 for row in rows)
    if at_risk:
        print(
            f"up to ${dollars(at_risk)} more may have been billed for calls whose end was not seen (lost, timed out)."
        )
    return EXIT_OK


def _uncounted(summary: Path) -> list[dict[str, Any]]:
    """What the last run of the sweep knows to have been called past the ledger."""
    costs = read_json(summary)["costs"] if summary.exists() else []
    return [row for row in costs if row["outcome"] == "uncounted"]


def _sum(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    values = [row[name] for row in rows]
    return dollars(None if any(value is None for value in values) else sum(values))
