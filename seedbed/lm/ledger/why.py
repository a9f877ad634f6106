"""Why an answer was not found: the first request of a sample that differs from what its run before asked."""

from __future__ import annotations

import difflib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Engine, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading

_a, _r = schema.attempts, schema.requests
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Difference:
    """Between the last two runs of a sample in a phase of a cell."""

    cell: str
    phase: str
    place: int
    """Which of the sample's requests it is, from 1."""
    before: dict[str, Any] | None
    """What stood in its place; None where the run before asked no more, or nothing is kept of it."""
    now: dict[str, Any] | None

    def lines(self) -> Iterator[str]:
        """As a diff."""
        return difflib.unified_diff(
            _pretty(self.before), _pretty(self.now), "the run before", "the last run", n=_CONTEXT, lineterm=""
        )


class OneRunOnly(LookupError):
    """There is nothing to compare with; says how many runs are on record."""


def first_difference(engine: Engine, sample: str, sweep: str | None = None) -> Difference | None:
    """The first request of the sample's last run that the run before it did not make; None where it made all of them.
    Runs are executions of the same phase of the same cell."""
    runs = _runs(engine, sample, sweep)
    if len(runs) < 2:
        raise OneRunOnly(len(runs))
    (cell, phase, _), asked = runs[-1]
    before = runs[-2][1]
    for place, key in enumerate(asked):
        if key not in before:
            other = before[place] if place < len(before) else None
            return Difference(cell, phase, place + 1, _body(engine, other), _body(engine, key))
    return None


def _runs(engine: Engine, sample: str, sweep: str | None) -> list[tuple[tuple[str, str, str], list[str]]]:
    """The executions of the cell and phase that asked for the sample last, oldest first, with the keys of each."""
    query = select(_a.c.cell, _a.c.phase, _a.c.execution, _a.c.key).where(_a.c.sample == sample)
    if sweep is not None:
        query = query.where(_a.c.sweep == sweep)
    with reading(engine) as connection:
        rows = list(connection.execute(query.order_by(_a.c.started_at, _a.c.id)))
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for cell, phase, execution, key in rows:
        found.setdefault((cell, phase, execution), {})[key] = None
    if not rows:
        return []
    last = (rows[-1].cell, rows[-1].phase)
    return [(run, list(keys)) for run, keys in found.items() if run[:2] == last]


def _body(engine: Engine, key: str | None) -> dict[str, Any] | None:
    if key is None:
        return None
    with reading(engine) as connection:
        body = connection.scalar(select(_r.c.body).where(_r.c.key == key))
    return orjson.loads(zlib.decompress(body)) if body else None


def _pretty(body: dict[str, Any] | None) -> list[str]:
    return [] if body is None else json.dumps(body, indent=1, ensure_ascii=False, sort_keys=True).splitlines()
