"""The one writer of a process: attempts arrive from the event loop, are written in batches, and are answered after
the commit. A batch costs one transaction however many calls are in flight, which is what keeps a call's share small."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import HEARTBEAT_S, dead_owners, heartbeat, open_database, register_owner
from seedbed.lm.ledger.records import Begin, BeginResult, Busy, CallScope, Cap, End, Granted, OverBudget, Stored, Unknown
from seedbed.lm.types import Usage

_MAX_BATCH = 512
_OWNER_SHIFT = 40

PriceOf = Callable[[str, Usage], float | None]
"""Model name and usage -> dollars as if fresh; None where the price is unknown."""

_Entry = tuple[Begin | End, asyncio.Future[Any]]


class Ledger:
    """Opens (or makes) a ledger and starts its writer thread."""

    def __init__(self, url: str, *, list_price: PriceOf, store_bodies: bool = True) -> None:
        self.engine: Engine = open_database(url)
        self.owner = register_owner(self.engine)
        self._list_price = list_price
        self._store_bodies = store_bodies
        self._counter = 0
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._statements = _Statements(self.engine.dialect.name)
        with self.engine.begin() as connection:
            mark_lost(connection, dead_owners(connection, self.owner))
        self._thread = threading.Thread(target=self._run, name="seedbed-ledger", daemon=True)
        self._thread.start()

    async def begin(self, item: Begin) -> BeginResult:
        """Look for a stored answer; else check the caps and put the attempt on record as in flight."""
        return await self._submit(item)

    async def end(self, item: End) -> None:
        """Put the outcome on record. When this returns, it is committed."""
        await self._submit(item)

    def post(self, item: End) -> None:
        """Put an outcome on record without waiting, for callers that are being cancelled."""
        self._submit(item)

    def close(self) -> None:
        """Write what is queued and stop."""
        self._queue.put(None)
        self._thread.join(timeout=30)
        self.engine.dispose()

    def _submit(self, item: Begin | End) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put((item, future))
        return future

    def _run(self) -> None:
        last_seen = time.monotonic()
        stopping = False
        while not stopping:
            batch, stopping = self._next_batch()
            due = time.monotonic() - last_seen > HEARTBEAT_S
            if not batch and not due:
                continue
            try:
                with self.engine.begin() as connection:
                    if due:
                        heartbeat(connection, self.owner)
                        last_seen = time.monotonic()
                    results = self._write(connection, [item for item, _ in batch])
            except Exception as error:  # noqa: BLE001 - handed to every caller of the batch, none may hang
                _resolve([future for _, future in batch], error)
            else:
                _resolve([future for _, future in batch], results)

    def _next_batch(self) -> tuple[list[_Entry], bool]:
        batch: list[_Entry] = []
        try:
            entry = self._queue.get(timeout=HEARTBEAT_S)
            while True:
                if entry is None:
                    return batch, True
                batch.append(entry)
                if len(batch) >= _MAX_BATCH:
                    return batch, False
                entry = self._queue.get_nowait()
        except queue.Empty:
            return batch, False

    def _write(self, connection: Connection, items: Sequence[Begin | End]) -> list[Any]:
        # Ends first: what they store may answer a begin of the same batch.
        ends = [item for item in items if isinstance(item, End)]
        if ends:
            self._write_ends(connection, ends)
        begins = [item for item in items if isinstance(item, Begin)]
        answers = iter(self._write_begins(connection, begins) if begins else [])
        return [next(answers) if isinstance(item, Begin) else None for item in items]

    # -- begin ---------------------------------------------------------------------------------------------------

    def _write_begins(self, connection: Connection, items: Sequence[Begin]) -> list[BeginResult]:
        stored = self._find(connection, items)
        answers: dict[int, BeginResult] = {}
        claims: list[tuple[int, Begin]] = []
        for index, item in enumerate(items):
            found = stored.get(item.key)
            if found is not None and found[1] >= item.scope.fresh_since:
                answers[index] = found[0]
            elif not item.may_call:
                answers[index] = Unknown()
            elif (over := self._reserve(connection, item)) is not None:
                answers[index] = over
            else:
                claims.append((index, item))
        reused = [(items[i], answer) for i, answer in answers.items() if isinstance(answer, Stored)]
        if reused:
            connection.execute(self._statements.insert_attempt, [self._reused_row(b, s) for b, s in reused])
        if claims:
            self._claim(connection, claims, answers)
        return [answers[index] for index in range(len(items))]

    def _find(self, connection: Connection, items: Sequence[Begin]) -> dict[str, tuple[Stored, float]]:
        rows = connection.execute(self._statements.find, {"keys": list({item.key for item in items})})
        return {
            row.key: (
                Stored(
                    zlib.decompress(row.body),
                    Usage(row.tokens_in, row.tokens_out, row.tokens_cached, row.tokens_reasoning, row.estimated),
                ),
                row.made_at,
            )
            for row in rows
        }

    def _claim(
        self, connection: Connection, claims: Sequence[tuple[int, Begin]], answers: dict[int, BeginResult]
    ) -> None:
        rows = [self._row(item) | {"reserved_usd": item.reserved_usd} for _, item in claims]
        result = connection.execute(self._statements.claim, rows)
        taken: set[int] = set()
        if result.rowcount != len(rows):
            # Somebody else has one of these keys in flight. Take it over if that process is gone.
            mark_lost(connection, dead_owners(connection, self.owner))
            connection.execute(self._statements.claim, rows)
            ids = [row["id"] for row in rows]
            mine = {row.id for row in connection.execute(select(schema.attempts.c.id).where(schema.attempts.c.id.in_(ids)))}
            taken = set(ids) - mine
        late = self._answered_meanwhile(connection, [item for _, item in claims])
        bodies: list[dict[str, Any]] = []
        for (index, item), row in zip(claims, rows, strict=True):
            if row["id"] in taken:
                self._settle(connection, item, 0.0)
                answers[index] = Busy()
            elif item.key in late:
                self._settle(connection, item, 0.0)
                connection.execute(
                    update(schema.attempts)
                    .where(schema.attempts.c.id == row["id"])
                    .values(self._reused_row(item, late[item.key]) | {"id": row["id"], "reserved_usd": None})
                )
                answers[index] = late[item.key]
            else:
                answers[index] = Granted(row["id"])
                if self._store_bodies:
                    bodies.append({"key": item.key, "body": zlib.compress(item.request, 1)})
        if bodies:
            connection.execute(self._statements.keep_request, bodies)

    def _answered_meanwhile(self, connection: Connection, items: Sequence[Begin]) -> dict[str, Stored]:
        """Answers committed between our look-up and our claim; SQLite's write lock makes that impossible there."""
        if connection.dialect.name == "sqlite":
            return {}
        found = self._find(connection, items)
        fresh = {item.key: item.scope.fresh_since for item in items}
        return {key: stored for key, (stored, made_at) in found.items() if made_at >= fresh[key]}

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
            "estimated": False,
            "started_at": time.time(),
        }

    def _reused_row(self, item: Begin, stored: Stored) -> dict[str, Any]:
        usage = stored.usage
        return self._row(item) | {
            "outcome": "reused",
            "tokens_in": usage.input,
            "tokens_out": usage.output,
            "tokens_cached": usage.cached,
            "tokens_reasoning": usage.reasoning,
            "estimated": usage.estimated,
            "spent_usd": 0.0,
            "list_usd": self._list_price(item.scope.model, usage),
            "at_risk_usd": 0.0,
        }

    # -- money ---------------------------------------------------------------------------------------------------

    def _reserve(self, connection: Connection, item: Begin) -> OverBudget | None:
        worst = item.reserved_usd or 0.0
        for done, cap in enumerate(item.caps):
            values = {"scope_": cap.scope, "worst": worst, "cap": cap.max_usd}
            connection.execute(self._statements.open_budget, {"scope": cap.scope})
            if connection.execute(self._statements.reserve, values).rowcount == 0:
                for earlier in item.caps[:done]:
                    connection.execute(self._statements.settle, {"scope_": earlier.scope, "held": worst, "used": 0.0})
                return OverBudget(cap, budget_used(connection, cap))
        return None

    def _settle(self, connection: Connection, item: Begin, used: float) -> None:
        for cap in item.caps:
            connection.execute(
                self._statements.settle, {"scope_": cap.scope, "held": item.reserved_usd or 0.0, "used": used}
            )

    # -- end -----------------------------------------------------------------------------------------------------

    def _write_ends(self, connection: Connection, items: Sequence[End]) -> None:
        connection.execute(self._statements.finish, [_end_row(item) for item in items])
        kept = {item.begin.key: item for item in items if item.response is not None and self._store_bodies}
        if kept:
            connection.execute(self._statements.keep_response, [_response_row(item) for item in kept.values()])
        for item in items:
            if item.begin.caps:
                self._settle(connection, item.begin, (item.spent_usd or 0.0) + item.at_risk_usd)


class _Statements:
    """Built once: SQLAlchemy then reuses their compiled form."""

    def __init__(self, dialect: str) -> None:
        a, r, b = schema.attempts, schema.responses, schema.budgets
        make = postgresql.insert if dialect == "postgresql" else sqlite.insert
        self.find = select(r).where(r.c.key.in_(bindparam("keys", expanding=True)))
        self.insert_attempt = insert(a)
        self.claim = make(a).on_conflict_do_nothing()
        self.keep_request = make(schema.requests).on_conflict_do_nothing()
        upsert = make(r)
        self.keep_response = upsert.on_conflict_do_update(
            index_elements=["key"], set_={c.name: upsert.excluded[c.name] for c in r.c if c.name != "key"}
        )
        ended = ("outcome", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "estimated", "spent_usd",
                 "list_usd", "at_risk_usd", "latency_s", "error_class", "error")  # fmt: skip
        self.finish = update(a).where(a.c.id == bindparam("id_")).values({name: bindparam(name) for name in ended})
        self.open_budget = make(b).values(scope=bindparam("scope"), used_usd=0.0, reserved_usd=0.0).on_conflict_do_nothing()
        self.reserve = (
            update(b)
            .where(b.c.scope == bindparam("scope_"), b.c.used_usd + b.c.reserved_usd + bindparam("worst") <= bindparam("cap"))
            .values(reserved_usd=b.c.reserved_usd + bindparam("worst"))
        )
        self.settle = (
            update(b)
            .where(b.c.scope == bindparam("scope_"))
            .values(reserved_usd=b.c.reserved_usd - bindparam("held"), used_usd=b.c.used_usd + bindparam("used"))
        )


def mark_lost(connection: Connection, owners: Sequence[int]) -> None:
    """Attempts that dead processes left in flight are lost, at their worst case: they may have been billed."""
    if not owners:
        return
    a, b = schema.attempts, schema.budgets
    orphans = list(connection.execute(select(a).where(a.c.owner.in_(owners), a.c.outcome.is_(None))))
    if not orphans:
        return
    connection.execute(
        update(a)
        .where(a.c.id == bindparam("id_"))
        .values(outcome="lost", spent_usd=0.0, list_usd=0.0, at_risk_usd=a.c.reserved_usd, error_class="Lost"),
        [{"id_": row.id} for row in orphans],
    )
    for row in orphans:
        worst = row.reserved_usd or 0.0
        connection.execute(
            update(b)
            .where(b.c.scope.in_([f"sweep:{row.sweep}", f"cell:{row.cell}"]))
            .values(reserved_usd=b.c.reserved_usd - worst, used_usd=b.c.used_usd + worst)
        )


def budget_used(connection: Connection, cap: Cap) -> float:
    used = connection.scalar(select(schema.budgets.c.used_usd).where(schema.budgets.c.scope == cap.scope))
    return float(used or 0.0)


def _end_row(item: End) -> dict[str, Any]:
    usage = item.usage
    return {
        "id_": item.attempt_id,
        "outcome": item.outcome,
        "tokens_in": usage.input if usage else None,
        "tokens_out": usage.output if usage else None,
        "tokens_cached": usage.cached if usage else None,
        "tokens_reasoning": usage.reasoning if usage else None,
        "estimated": usage.estimated if usage else False,
        "spent_usd": item.spent_usd,
        "list_usd": item.list_usd,
        "at_risk_usd": item.at_risk_usd,
        "latency_s": item.latency_s,
        "error_class": item.error_class,
        "error": item.error,
    }


def _response_row(item: End) -> dict[str, Any]:
    usage = item.usage
    assert usage is not None
    assert item.response is not None
    return {
        "key": item.begin.key,
        "body": zlib.compress(item.response, 1),
        "tokens_in": usage.input,
        "tokens_out": usage.output,
        "tokens_cached": usage.cached,
        "tokens_reasoning": usage.reasoning,
        "estimated": usage.estimated,
        "made_at": time.time(),
    }


def _resolve(futures: Sequence[asyncio.Future[Any]], results: Sequence[Any] | Exception) -> None:
    """Answer the callers of a batch, each loop woken once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for index, future in enumerate(futures):
        result = results if isinstance(results, Exception) else results[index]
        by_loop.setdefault(future.get_loop(), []).append((future, result))
    for loop, pairs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_set_all, pairs)


def _set_all(pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
