"""The one writer of a process: attempts arrive from the event loop, are written in batches, and are answered after
the commit. A batch costs one transaction however many calls are in flight, which is what keeps a call's share small."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from seedbed.errors import SeedbedError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.budget import Book
from seedbed.lm.ledger.database import HEARTBEAT_S, heartbeat, open_database, register_owner, sign_off, split_owners
from seedbed.lm.ledger.records import Begin, BeginResult, Busy, CallScope, End, Granted, Stored, Unknown
from seedbed.lm.ledger.repair import late_end, mark_lost
from seedbed.lm.ledger.statements import Statements
from seedbed.lm.types import Usage

logger = logging.getLogger("seedbed.lm")

_MAX_BATCH = 512
_OWNER_SHIFT = 40
_PAUSES_S = (0.05, 0.2, 0.8)
_SERVER_PAUSES_S = (*_PAUSES_S, 3.0, 8.0, 15.0)
"""A server that is started anew is waited for: an answer that cannot be recorded is lost, and may be paid again."""
_FIND_AT_ONCE = 400
_INTRODUCTION_S = 1.2 * HEARTBEAT_S
"""Every process looks around with its heartbeat, and then needs a moment to act on what it saw."""

PriceOf = Callable[[str, Usage], float | None]
"""Model name and usage -> dollars as if fresh; None where the price is unknown."""

_Entry = tuple[Begin | End, asyncio.Future[Any]]


class Ledger:
    """Opens (or makes) a ledger and starts its writer thread."""

    def __init__(
        self,
        url: str,
        *,
        list_price: PriceOf,
        store_bodies: bool = True,
        on_peers: Callable[[int], None] | None = None,
    ) -> None:
        self.engine: Engine = open_database(url)
        self.owner = register_owner(self.engine)
        self.peers = 1
        """Processes at work on this ledger, this one included; `on_peers` is told, from the writer's thread."""
        self._on_peers = on_peers
        self._list_price = list_price
        self._store_bodies = store_bodies
        self._counter = 0
        self._closed = False
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._statements = Statements(self.engine.dialect)
        self._known_caps: set[str] = set()
        with self.engine.begin() as connection:
            self._look_around(connection)
        self.known_from = time.monotonic() + (_INTRODUCTION_S if self.peers > 1 else 0.0)
        """From this moment of the monotonic clock on, those that were at work before know of this process."""
        self._thread = threading.Thread(target=self._run, name="seedbed-ledger", daemon=True)
        self._thread.start()

    def begin(self, item: Begin) -> asyncio.Future[BeginResult]:
        """Look for a stored answer; else check the caps and put the attempt on record as in flight.

        The record is made whether or not the future is still awaited: who gives up must end what was granted.
        """
        return self._submit(item)

    def end(self, item: End) -> asyncio.Future[None]:
        """Put the outcome on record. When the future is done, it is committed; it is written even if nobody waits."""
        return self._submit(item)

    def close(self) -> None:
        """Write what is queued and stop."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join(timeout=30)
        try:
            sign_off(self.engine, self.owner)
        except SQLAlchemyError as error:
            logger.warning("the ledger could not be signed off (%s); its next reader will see that we are gone", error)
        self.engine.dispose()

    def _submit(self, item: Begin | End) -> asyncio.Future[Any]:
        if self._closed:
            raise SeedbedError("the ledger is closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put((item, future))
        return future

    # -- the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        due = time.monotonic() + HEARTBEAT_S
        stopping = False
        while not stopping:
            batch, stopping = self._next_batch(due - time.monotonic())
            if time.monotonic() >= due:
                due = time.monotonic() + HEARTBEAT_S
                self._beat()
            if batch:
                self._write_batch(batch)
        while not self._queue.empty():
            entry = self._queue.get_nowait()
            if entry is not None:
                _resolve([entry[1]], SeedbedError("the ledger is closed"))

    def _next_batch(self, wait_s: float) -> tuple[list[_Entry], bool]:
        batch: list[_Entry] = []
        try:
            entry = self._queue.get(timeout=max(0.0, wait_s))
            while True:
                if entry is None:
                    return batch, True
                batch.append(entry)
                if len(batch) >= _MAX_BATCH:
                    return batch, False
                entry = self._queue.get_nowait()
        except queue.Empty:
            return batch, False

    def _beat(self) -> None:
        try:
            with self.engine.begin() as connection:
                heartbeat(connection, self.owner)
                self._look_around(connection)
        except SQLAlchemyError as error:
            logger.warning("the ledger's heartbeat failed: %s", error)

    def _look_around(self, connection: Connection) -> None:
        alive, dead = split_owners(connection)
        mark_lost(connection, dead)
        if len(alive) != self.peers:
            self.peers = max(1, len(alive))
            if self._on_peers is not None:
                self._on_peers(self.peers)

    def _write_batch(self, batch: Sequence[_Entry]) -> None:
        futures = [future for _, future in batch]
        try:
            results = self._commit([item for item, _ in batch])
        except Exception as error:
            if len(batch) > 1:
                # One bad row must not take the others with it.
                for entry in batch:
                    self._write_batch([entry])
            else:
                # Handed to the caller: nobody may wait for ever.
                _resolve(futures, error)
        else:
            _resolve(futures, results)

    def _commit(self, items: Sequence[Begin | End]) -> list[Any]:
        for pause in _PAUSES_S if self.engine.dialect.name == "sqlite" else _SERVER_PAUSES_S:
            try:
                return self._transaction(items)
            except OperationalError as error:
                # Locked, two PostgreSQL writers in each other's way, or its server gone: the whole transaction can be
                # made again.
                logger.debug("the ledger's transaction is made again: %s", error)
                time.sleep(pause)
        return self._transaction(items)

    def _transaction(self, items: Sequence[Begin | End]) -> list[Any]:
        try:
            with self.engine.begin() as connection:
                return self._write(connection, items)
        except BaseException:
            # What was counted in it was not written either.
            self._known_caps.clear()
            raise

    def _write(self, connection: Connection, items: Sequence[Begin | End]) -> list[Any]:
        ends = [item for item in items if isinstance(item, End)]
        begins = [item for item in items if isinstance(item, Begin)]
        book = Book(connection, self._known_caps, self._statements)
        book.load([*begins, *(end.begin for end in ends)])
        # Ends first: what they store may answer a begin of the same batch.
        if ends:
            self._write_ends(connection, ends, book)
        answers = iter(self._write_begins(connection, begins, book) if begins else [])
        book.write()
        return [next(answers) if isinstance(item, Begin) else None for item in items]

    # -- begin -----------------------------------------------------------------------------------------------------

    def _write_begins(self, connection: Connection, items: Sequence[Begin], book: Book) -> list[BeginResult]:
        stored = self._find(connection, items)
        answers: dict[int, BeginResult] = {}
        claims: list[tuple[int, Begin]] = []
        for index, item in enumerate(items):
            found = stored.get(item.key)
            if item.known is not None:
                answers[index] = item.known
            elif found is not None and found[1] >= item.scope.fresh_since:
                answers[index] = found[0]
            elif not item.may_call:
                answers[index] = Unknown()
            elif (over := book.reserve(item)) is not None:
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
            self._claim(connection, sorted(claims, key=lambda claim: claim[1].key), answers, book)
        return [answers[index] for index in range(len(items))]

    def _find(self, connection: Connection, items: Sequence[Begin]) -> dict[str, tuple[Stored, float]]:
        keys = list({item.key for item in items if item.known is None})
        found: dict[str, tuple[Stored, float]] = {}
        for at in range(0, len(keys), _FIND_AT_ONCE):
            for row in connection.execute(self._statements.find, {"keys": keys[at : at + _FIND_AT_ONCE]}):
                usage = Usage(row.tokens_in, row.tokens_out, row.tokens_cached, row.tokens_reasoning, row.estimated)
                found[row.key] = (Stored(zlib.decompress(row.body), usage), row.made_at)
        return found

    def _claim(
        self,
        connection: Connection,
        claims: Sequence[tuple[int, Begin]],
        answers: dict[int, BeginResult],
        book: Book,
    ) -> None:
        rows: list[dict[str, Any]] = [
            self._row(item) | {"reserved_usd": item.reserved_usd, "estimated": False} for _, item in claims
        ]
        taken: set[int] = set()
        contested = self._statements.claim.run(connection, rows) != len(rows)
        if contested:
            taken = self._claim_from_dead(connection, rows)
        late = self._answered_meanwhile(connection, [item for _, item in claims])
        bodies: list[dict[str, Any]] = []
        for (index, item), row in zip(claims, rows, strict=True):
            if row["id"] in taken:
                book.settle(item, 0.0)
                answers[index] = Busy()
            elif item.key in late:
                book.settle(item, 0.0)
                ended = self._reused_row(item, late[item.key])
                self._statements.finish.run(connection, [ended | {"id_": row["id"]}])
                answers[index] = late[item.key]
            else:
                answers[index] = Granted(row["id"])
                if self._store_bodies:
                    bodies.append({"key": item.key, "body": zlib.compress(item.request, 1)})
        if bodies:
            self._statements.keep_request.run(connection, bodies)
        if contested:
            book.recount()

    def _claim_from_dead(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> set[int]:
        """Some keys are in flight elsewhere: take those of dead processes over; returns the ids that stay refused."""
        _, dead = split_owners(connection)
        # A process has a key in flight once. An own row that is still open had its end refused by the database.
        mark_lost(connection, [*dead, self.owner], keys=[row["key"] for row in rows], but=[row["id"] for row in rows])
        for row in rows:
            self._statements.claim.run(connection, [row])
        ids = [row["id"] for row in rows]
        mine = connection.scalars(select(schema.attempts.c.id).where(schema.attempts.c.id.in_(ids)))
        return set(ids) - set(mine)

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
            "started_at": time.time(),
        }

    def _reused_row(self, item: Begin, stored: Stored) -> dict[str, Any]:
        listed = self._list_price(item.scope.model, stored.usage)
        return self._row(item) | _ended("reused", stored.usage, 0.0, listed)

    # -- end -------------------------------------------------------------------------------------------------------

    def _write_ends(self, connection: Connection, items: Sequence[End], book: Book) -> None:
        rows = [_end_row(item) for item in items]
        if self._statements.finish.run(connection, rows) == len(rows):
            for item in items:
                book.settle(item.begin, (item.spent_usd or 0.0) + item.at_risk_usd)
        else:
            for item, row in zip(items, rows, strict=True):
                late_end(connection, item, row)
            book.recount()
        if self._store_bodies:
            kept = {item.begin.key: _response_row(item) for item in items if item.response is not None}
            if kept:
                self._statements.keep_response.run(connection, [kept[key] for key in sorted(kept)])


def _ended(outcome: str, usage: Usage | None, spent: float | None, listed: float | None) -> dict[str, Any]:
    return {
        "outcome": outcome,
        "tokens_in": usage.input if usage else None,
        "tokens_out": usage.output if usage else None,
        "tokens_cached": usage.cached if usage else None,
        "tokens_reasoning": usage.reasoning if usage else None,
        "estimated": usage.estimated if usage else False,
        "spent_usd": spent,
        "list_usd": listed,
        "at_risk_usd": 0.0,
        "latency_s": None,
        "error_class": None,
        "error": None,
    }


def _end_row(item: End) -> dict[str, Any]:
    return _ended(item.outcome, item.usage, item.spent_usd, item.list_usd) | {
        "id_": item.attempt_id,
        "at_risk_usd": item.at_risk_usd,
        "latency_s": item.latency_s,
        "error_class": item.error_class,
        # A database takes no half characters and PostgreSQL no zero bytes, and an error's text may hold them.
        "error": item.error.encode("utf-8", "replace").decode().replace("\0", "\ufffd") if item.error else None,
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
        try:
            loop.call_soon_threadsafe(_set_all, pairs)
        except RuntimeError:
            # The loop was closed meanwhile: its callers are gone, the record is made.
            logger.debug("a loop was closed before its ledger answers came")


def _set_all(pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
