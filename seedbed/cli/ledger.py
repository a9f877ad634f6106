"""`seedbed ledger stats|export|prune|why`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import orjson
from sqlalchemy import Engine

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database, sqlite_url
from seedbed.lm.ledger.prune import prune
from seedbed.lm.ledger.upkeep import export_ledger, export_rows, stats, stored
from seedbed.lm.ledger.why import OneRunOnly, first_difference
from seedbed.storage.objects import staged
from seedbed.storage.redact import redact
from seedbed.storage.store import Store

_DAY_S = 86400.0


def run(arguments: argparse.Namespace) -> int:
    engine = open_ledger(arguments.ledger, arguments.out)
    try:
        match arguments.action:
            case "stats":
                _stats(engine)
            case "export":
                _export(engine, arguments.sweep, arguments.to, bodies=not arguments.no_bodies)
            case "why":
                _why(engine, arguments.sample, arguments.sweep)
            case _:
                _prune(engine, arguments.sweep, arguments.older_than, apply=arguments.yes)
    finally:
        engine.dispose()
    return EXIT_OK


def open_ledger(given: str | None, out: str) -> Engine:
    """A ledger by file or URL, or the one of the results folder; never a new one."""
    if given is None and "://" in out:
        raise UserError(f"--out {out}: no ledger lies on object storage; name it with --ledger FILE_OR_URL.")
    url = given or Store(Path(out).resolve()).ledger_url
    if "://" not in url:
        url = sqlite_url(Path(url).resolve())
    file = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and not file.exists():
        raise UserError(f"{file}: no ledger there; name one with --ledger FILE_OR_URL or its folder with --out DIR.")
    return open_database(url)


def _stats(engine: Engine) -> None:
    for row in stats(engine):
        counts = ", ".join(f"{row[name]} {name}" for name in ("paid", "reused", "failed", "lost") if row[name])
        spent = f"${row['spent_usd'] or 0.0:.6f}" + (
            f" ({row['unpriced']} calls without a price)" if row["unpriced"] else ""
        )
        tokens = f"{row['tokens_in']} tokens in, {row['tokens_out']} out"
        print(f"{row['sweep']}: {counts or 'nothing ended'}; {tokens}; {spent}")
        if row["at_risk_usd"]:
            print(f"  up to ${row['at_risk_usd']:.6f} more may have been billed (lost, timed out)")
        if row["in_flight"]:
            print(f"  {row['in_flight']} in flight, or left so by a process that was killed")
    answers, size = stored(engine)
    print(f"{answers} answers kept for reuse, {size / 1e6:.1f} MB of bodies")


def _export(engine: Engine, sweep: str | None, target: str, *, bodies: bool) -> None:
    if target.endswith(".sqlite"):
        count = export_ledger(engine, sweep, Path(target).resolve())
        print(
            f"{count} attempts with their bodies in {target}; `seedbed run CONFIG --replay` works from it as the ledger"
        )
        return
    rows = (redact(orjson.dumps(row).decode()).encode() + b"\n" for row in export_rows(engine, sweep, bodies=bodies))
    if target == "-":
        sys.stdout.buffer.writelines(rows)
        return
    with staged(Path(target)) as partial, partial.open("wb") as file:
        file.writelines(rows)


def _why(engine: Engine, sample: str | None, sweep: str | None) -> None:
    """The first request that differs from the recorded run, as a diff."""
    if sample is None:
        raise UserError("why: name a sample, as it is called in predictions.jsonl.")
    try:
        found = first_difference(engine, sample, sweep)
    except OneRunOnly as runs:
        raise UserError(
            f"why {sample}: {runs} of its runs are on record, and it takes two to compare; correct the sample's name "
            "or --sweep, or run the sweep again."
        ) from None
    if found is None:
        print(f"{sample}: the last run asked nothing that the run before it had not asked.")
        return
    print(
        f"{sample}: request {found.place} of {found.phase} in cell {found.cell[:12]} is another than in the run before."
    )
    lines = [redact(line) for line in found.lines()]
    if found.now is None:
        print("Its text was not kept (store_bodies: false).")
    elif found.before is None:
        print("The run before asked no more, or its text was not kept.")
    elif not lines:
        print("Its text is the same: the model, the seed or the fresh start is another.")
    else:
        print("\n".join(lines))
        print("What differs from run to run is kept out of the key by `normalise:` of the system (docs/gateway.md).")


def _prune(engine: Engine, sweep: str | None, days: float | None, *, apply: bool) -> None:
    if sweep is None and days is None:
        raise UserError("say what to drop: --older-than DAYS, --sweep NAME, or both.")
    before = None if days is None else time.time() - days * _DAY_S
    done = prune(engine, before=before, sweep=sweep, apply=apply)
    what = f"{done.answers} stored answers, {done.size / 1e6:.1f} MB"
    if done.interrupted:
        raise UserError(
            f"dropped {what} and left the rest: a sweep began meanwhile ({done.interrupted}); prune again after it."
        )
    print(
        f"dropped {what}; the account of calls and dollars stays" if apply else f"would drop {what}; add --yes to do it"
    )
