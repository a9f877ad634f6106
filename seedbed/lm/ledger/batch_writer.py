"""What a batch of the ledger writes: ends and begins of attempts, in one transaction."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, Dialect

from seedbed.lm.ledger.answer_columns import NO_ANSWER, answer_columns, stored_answer
from seedbed.lm.ledger.caps import Caps
from seedbed.lm.ledger.holders import Holder, Holders
from seedbed.lm.ledger.records import (
    BatchSeat,
    Begin,
    BeginResult,
    Busy,
    CallScope,
    End,
    Granted,
    InBatch,
    Stored,
    Unknown,
)
from seedbed.lm.ledger.repair import late_end, mark_lost
from seedbed.lm.ledger.statements import Statements
from seedbed.lm.types import Answerer, Usage

_OWNER_SHIFT = 40

PriceOf = Callable[[CallScope, Usage], float | None]
"""For whom and what it used -> dollars as if fresh; None where the price is unknown."""


class BatchWriter:
    """Used by one thread at a time."""

    def __init__(self, dialect: Dialect, owner: int, list_price: PriceOf, *, store_bodies: bool) -> None:
        self.owner = owner
        self._list_price = list_price
        self._store_bodies = store_bodies
        self._counter = 0
        self._statements = Statements(dialect)
        self._holders = Holders(dialect)
        self._known_caps: set[str] = set()

    def forget(self) -> None:
        """After a transaction that failed: what was counted in it was not written either."""
        self._known_caps.clear()

    def write(self, connection: Connection, items: Sequence[Begin | End]) -> list[Any]:
        """Write a batch in the transaction the connection is in; what each item is answered, in order."""
        ends = [item for item in items if isinstance(item, End)]
        begins = [item for item in items if isinstance(item, Begin)]
        caps = Caps(connection, self._known_caps, self._statements)
        caps.load([*begins, *(end.begin for end in ends)])
        # Ends first: what they store may answer a begin of the same batch.
        if ends:
            self._write_ends(connection, ends, caps)
        answers = iter(self._write_begins(connection, begins, caps) if begins else [])
        caps.write()
        return [next(answers) if isinstance(item, Begin) else None for item in items]

    # -- begin -----------------------------------------------------------------------------------------------------

    def _write_begins(self, connection: Connection, items: Sequence[Begin], caps: Caps) -> list[BeginResult]:
        stored = self._find(connection, items)
        answers: dict[int, BeginResult] = {}
        claims: list[tuple[int, Begin]] = []
        for index, item in enumerate(items):
            found = stored.get(item.key)
            if item.known is not None:
                answers[index] = item.known
            elif found is not None and found[1] >= item.scope.generation:
                answers[index] = found[0]
            elif not item.may_call:
                answers[index] = Unknown()
            elif (over := caps.reserve(item)) is not None:
                answers[index] = over
            else:
                claims.append((index, item))
        reused = [
            self._reused_row(items[i], answer) for i, answer in answers.items() if isinstance(answer, Stored)
        ]  # fmt: skip
        if reused:
            self._statements.insert_attempt.run(connection, reused)
        if claims:
            # One order for all writers: two that want the same keys then never wait for each other.
            self._claim(connection, sorted(claims, key=lambda claim: claim[1].key), answers, caps)
        return [answers[index] for index in range(len(items))]

    def _find(self, connection: Connection, items: Sequence[Begin]) -> dict[str, tuple[Stored, int]]:
        keys = list({item.key for item in items if item.known is None})
        found: dict[str, tuple[Stored, int]] = {}
        for row in self._statements.find_responses(connection, keys) if keys else ():
            found[row["key"]] = (stored_answer(row), row["generation"])
        return found

    def _claim(
        self,
        connection: Connection,
        claims: Sequence[tuple[int, Begin]],
        answers: dict[int, BeginResult],
        caps: Caps,
    ) -> None:
        rows: list[dict[str, Any]] = [
            self._row(item) | {"reserved_usd": item.reserved_usd, "estimated": False} for _, item in claims
        ]
        taken: dict[int, Holder | None] = {}
        repaired = False
        if self._statements.claim.run(connection, rows) != len(rows):
            taken, repaired = self._claim_from_dead(connection, rows)
        late = self._answered_meanwhile(connection, [item for _, item in claims])
        bodies: list[dict[str, Any]] = []
        seats: list[dict[str, Any]] = []
        for (index, item), row in zip(claims, rows, strict=True):
            if row["id"] in taken:
                caps.settle(item, 0.0)
                holder = taken[row["id"]]
                answers[index] = InBatch(holder.id) if holder is not None and holder.seated else Busy()
            elif item.key in late:
                caps.settle(item, 0.0)
                ended = self._reused_row(item, late[item.key])
                self._statements.finish.run(connection, [ended | {"id_": row["id"]}])
                answers[index] = late[item.key]
            else:
                answers[index] = Granted(row["id"])
                if self._store_bodies:
                    bodies.append({"key": item.key, "body": zlib.compress(item.request, 1)})
                if item.seat is not None:
                    seats.append(_seat_row(row["id"], item, item.seat))
        if bodies:
            self._statements.keep_request.run(connection, bodies)
        if seats:
            self._statements.take_seat.run(connection, seats)
        if repaired:
            caps.recount()

    def _claim_from_dead(
        self, connection: Connection, rows: Sequence[dict[str, Any]]
    ) -> tuple[dict[int, Holder | None], bool]:
        """Some keys are in flight elsewhere: take those of dead processes over. Returns the ids that stay refused with
        who holds their keys, and whether any was taken over: only then have sums changed that a sweep of a million
        calls would be long to add."""
        keys, ids = [row["key"] for row in rows], {row["id"] for row in rows}
        holders = self._holders.of(connection, keys)
        # A process has a key in flight once. An own row that is still open had its end refused by the database.
        gone = {h.owner for h in holders.values() if h.id not in ids and (h.gone or h.owner == self.owner)}
        repaired = bool(gone) and mark_lost(connection, sorted(gone), keys=keys, but=sorted(ids))
        # Without a holder are also those that ended since we were refused.
        again = [row for row in rows if repaired or row["key"] not in holders]
        if again:
            for row in again:
                self._statements.claim.run(connection, [row])
            holders = self._holders.of(connection, keys)
        held = {row["id"]: holders.get(row["key"]) for row in rows}
        return {number: holder for number, holder in held.items() if holder is None or holder.id != number}, repaired

    def _answered_meanwhile(self, connection: Connection, items: Sequence[Begin]) -> dict[str, Stored]:
        """Answers committed between our look-up and our claim; SQLite's write lock makes that impossible there."""
        if connection.dialect.name == "sqlite":
            return {}
        found = self._find(connection, items)
        fresh = {item.key: item.scope.generation for item in items}
        return {key: stored for key, (stored, generation) in found.items() if generation >= fresh[key]}

    def _row(self, item: Begin) -> dict[str, Any]:
        self._counter += 1
        scope: CallScope = item.scope
        return {
            "id": (self.owner << _OWNER_SHIFT) + self._counter,
            "owner": self.owner,
            "sweep": scope.sweep,
            "cell": scope.cell,
            "phase": scope.phase,
            "role": scope.role,
            "execution": scope.execution,
            "sample": item.sample,
            "model": scope.model,
            "key": item.key,
            "number": item.number,
            "generation": scope.generation,
            "started_at": time.time(),
        }

    def _reused_row(self, item: Begin, stored: Stored) -> dict[str, Any]:
        listed = self._list_price(item.scope, stored.usage)
        return self._row(item) | _ended("reused", stored.usage, stored.answerer, 0.0, listed)

    # -- end -------------------------------------------------------------------------------------------------------

    def _write_ends(self, connection: Connection, items: Sequence[End], caps: Caps) -> None:
        rows = [_end_row(item) for item in items]
        if self._statements.finish.run(connection, rows) == len(rows):
            for item in items:
                caps.settle(item.begin, (item.spent_usd or 0.0) + item.at_risk_usd)
        else:
            for item, row in zip(items, rows, strict=True):
                late_end(connection, item, row)
            caps.recount()
        if self._store_bodies:
            kept = {item.begin.key: _response_row(item) for item in items if item.response is not None}
            if kept:
                self._statements.keep_response.run(connection, [kept[key] for key in sorted(kept)])


def _seat_row(attempt_id: int, item: Begin, seat: BatchSeat) -> dict[str, Any]:
    caps = orjson.dumps([cap.scope for cap in item.caps]).decode()
    body = zlib.compress(seat.body, 1)
    return {"attempt": attempt_id, "lane": seat.lane, "caps": caps, "body": body, "bytes": len(seat.body)}


def _ended(
    outcome: str, usage: Usage | None, answerer: Answerer, spent: float | None, listed: float | None
) -> dict[str, Any]:
    return {
        "outcome": outcome,
        **(answer_columns(usage, answerer) if usage else NO_ANSWER),
        "spent_usd": spent,
        "list_usd": listed,
        "at_risk_usd": 0.0,
        "latency_s": None,
        "error_class": None,
        "error": None,
    }


def _end_row(item: End) -> dict[str, Any]:
    return _ended(item.outcome, item.usage, item.answerer, item.spent_usd, item.list_usd) | {
        "id_": item.attempt_id,
        "at_risk_usd": item.at_risk_usd,
        "latency_s": item.latency_s,
        "error_class": item.error_class,
        # A database takes no half characters and PostgreSQL no zero bytes, and an error's text may hold them.
        "error": item.error.encode("utf-8", "replace").decode().replace("\0", "\ufffd") if item.error else None,
    }


def _response_row(item: End) -> dict[str, Any]:
    assert item.usage is not None
    assert item.response is not None
    return {
        "key": item.begin.key,
        "body": zlib.compress(item.response, 1),
        **answer_columns(item.usage, item.answerer),
        "generation": item.begin.scope.generation,
    }
