"""The part of a ledger that a sweep's results stand on, as a ledger of its own to give away."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Table, insert, literal, or_, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.ledger.upkeep import masked_request

_a, _q, _r = schema.attempts, schema.requests, schema.responses
_CHUNK = 500
_IDS_AT_ONCE = 500


def extract_ledger(engine: Engine, sweep: str, cells: Sequence[str], target: Path) -> int:
    """Copy the attempts of a sweep and of its cells, whichever sweep ran them first, with the bodies its cells need,
    into a new file; returns their number. Equal rows give equal bytes. Names of hosts and secrets in requests stay
    behind."""
    copy = open_database(sqlite_url(target))
    count = 0
    try:
        with reading(engine) as source, copy.begin() as connection:
            for table, query in _parts(sweep, cells):
                rows = source.execution_options(yield_per=_CHUNK).execute(query).mappings()
                for part in rows.partitions(_CHUNK):
                    copied = [masked_request(row) for row in part] if table is _q else [dict(row) for row in part]
                    connection.execute(insert(table), copied)
                    count += len(part) if table is _a else 0
    finally:
        copy.dispose()
    _fold(target)
    return count


def _parts(sweep: str, cells: Sequence[str]) -> list[tuple[Table, Any]]:
    chunks = [cells[at : at + _IDS_AT_ONCE] for at in range(0, len(cells), _IDS_AT_ONCE)]
    here = or_(*(_a.c.cell.in_(chunk) for chunk in chunks))
    keys = select(_a.c.key).where(here)
    chosen = _a.c.outcome.is_not(None) & or_(_a.c.sweep == sweep, here)
    owners = schema.owners
    return [
        (_a, select(_a).where(chosen).order_by(_a.c.id)),
        (_q, select(_q).where(_q.c.key.in_(keys)).order_by(_q.c.key)),
        (_r, select(_r).where(_r.c.key.in_(keys)).order_by(_r.c.key)),
        (schema.sweeps, select(schema.sweeps).where(schema.sweeps.c.name == sweep)),
        # Ids of attempts begin with their writer's: a new writer of the copy must not get a number of an old one.
        (
            owners,
            select(owners.c.id, literal("").label("host"), literal(0).label("pid"), literal(0.0).label("seen_at"))
            .where(owners.c.id.in_(select(_a.c.owner).where(chosen)))
            .order_by(owners.c.id),
        ),
    ]


def _fold(file: Path) -> None:
    """One file without a log beside it, which a read-only folder can hold. Tables, rows and indexes are laid down in
    the order of their names and keys, whatever order they were made in."""
    packed = file.with_name(f".{file.name}.packed")
    with closing(sqlite3.connect(packed)) as connection:
        connection.execute("ATTACH ? AS made", (str(file),))
        known = "SELECT name, sql FROM made.sqlite_master WHERE type = ? AND sql IS NOT NULL ORDER BY name"
        for name, sql in connection.execute(known, ("table",)).fetchall():
            if not name.startswith("sqlite_"):
                connection.execute(sql)
                connection.execute(f"INSERT INTO main.{name} SELECT * FROM made.{name} ORDER BY 1")  # noqa: S608
        for _, sql in connection.execute(known, ("index",)).fetchall():
            connection.execute(sql)
        connection.commit()
    packed.replace(file)
