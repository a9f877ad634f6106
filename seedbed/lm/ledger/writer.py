"""The one writer of a process: attempts arrive from the event loop, are written in batches, and are answered after
the commit. A batch costs one transaction however many calls are in flight, which is what keeps a call's share small.

SQLite is written to on the loop itself: a batch takes a millisecond, less than a thread waits for the interpreter while
the loop is busy. Where the loop would have to wait, for another process's writing or for a server, the thread does it.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from seedbed.errors import SeedbedError, UserError
from seedbed.lm.ledger.batch_writer import BatchWriter, PriceOf
from seedbed.lm.ledger.database import (
    HEARTBEAT_S,
    heartbeat,
    nowait_connection,
    open_database,
    register_owner,
    sign_off,
    split_owners,
)
from seedbed.lm.ledger.records import Begin, BeginResult, End
from seedbed.lm.ledger.repair import mark_lost
from seedbed.lm.ledger.settled import settle
from seedbed.lm.ledger.url import explain, parse, shown

logger = logging.getLogger("seedbed.lm")

_MAX_BATCH = 512
_LOOP_PAUSES_S = (0.001, 0.002, 0.004, 0.008, 0.016)
"""Before the loop leaves to the thread what another process's writing keeps from being written."""
_PAUSES_S = (0.05, 0.2, 0.8)
_SERVER_PAUSES_S = (*_PAUSES_S, 3.0, 8.0, 15.0)
"""A server that is started anew is waited for: an answer that cannot be recorded is lost, and may be paid again."""
_INTRODUCTION_S = 1.2 * HEARTBEAT_S
"""Every process looks around with its heartbeat, and then needs a moment to act on what it saw."""

_Entry = tuple[Begin | End, asyncio.Future[Any]]


class Ledger:
    """Opens (or makes) a ledger and starts its writer thread. Used from one event loop at a time."""

    def __init__(
        self,
        url: str,
        *,
        list_price: PriceOf,
        store_bodies: bool = True,
        on_peers: Callable[[int], None] | None = None,
    ) -> None:
        self.engine: Engine = open_database(url)
        # Before anybody's lock is taken: a cap of a sweep of millions would be added up under it.
        settle(self.engine)
        with self._room(url):
            self.owner = register_owner(self.engine)
        self.peers = 1
        """Processes at work on this ledger, this one included; `on_peers` is told, from the writer's thread."""
        self._on_peers = on_peers
        self._batch_writer = BatchWriter(self.engine.dialect, self.owner, list_price, store_bodies=store_bodies)
        self._closed = False
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._nowait = nowait_connection(self.engine)
        """What the loop writes with; None where only the thread may."""
        self._collected: list[_Entry] = []
        """What came in this pass of the loop and is written at its end."""
        self._waited = 0
        """How often that was put off, for another process's writing."""
        self._with_thread = 0
        """Entries handed to the thread and not yet answered. As long as there are any, it gets all others too: they
        are written in the order they came."""
        self._handing = threading.Lock()
        with self._room(url):
            self.look_around()
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

    def look_around(self) -> int:
        """How many processes are at work on the ledger now; what a dead one had in flight is lost."""
        with self.engine.begin() as connection:
            self._look_around(connection)
        return self.peers

    def close(self) -> None:
        """Write what is queued and stop."""
        if self._closed:
            return
        with self._handing:
            self._closed = True
            self._hand_over()
        self._queue.put(None)
        self._thread.join(timeout=30)
        if self._nowait is not None:
            self._nowait.close()
        try:
            sign_off(self.engine, self.owner)
        except SQLAlchemyError as error:
            logger.warning("the ledger could not be signed off (%s); its next reader will see that we are gone", error)
        self.engine.dispose()

    @contextmanager
    def _room(self, url: str) -> Iterator[None]:
        """A ledger in whose place nothing can be written is told before the first call."""
        try:
            yield
        except OperationalError as error:
            if not _is_full(error):
                raise
            raise UserError(f"ledger {shown(parse(url))}: {explain(error, parse(url))}") from None

    def _submit(self, item: Begin | End) -> asyncio.Future[Any]:
        if self._closed:
            raise SeedbedError("the ledger is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._collected.append((item, future))
        if len(self._collected) == 1:
            loop.call_soon(self._write_collected)
        return future

    def _write_collected(self) -> None:
        with self._handing:
            batch = self._collected
            if self._closed:
                _set_all([(future, SeedbedError("the ledger is closed")) for _, future in batch])
                return
            if self._nowait is not None and not self._with_thread:
                try:
                    results = self._transaction(self._nowait, [item for item, _ in batch])
                except Exception as error:
                    if _is_busy(error) and self._waited < len(_LOOP_PAUSES_S):
                        # Another process writes, for a millisecond or two. What comes meanwhile goes with the rest.
                        asyncio.get_running_loop().call_later(_LOOP_PAUSES_S[self._waited], self._write_collected)
                        self._waited += 1
                        return
                    # A row is bad, or the other takes long. The thread has the time to wait and to find out.
                    logger.debug("left to the ledger's thread: %s", error)
                else:
                    self._collected, self._waited = [], 0
                    _set_all([(future, result) for (_, future), result in zip(batch, results, strict=True)])
                    return
            self._hand_over()

    def _hand_over(self) -> None:
        self._waited = 0
        self._with_thread += len(self._collected)
        for entry in self._collected:
            self._queue.put(entry)
        self._collected = []

    def _answered(self, pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
        self._with_thread -= len(pairs)
        _set_all(pairs)

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
            if len(batch) > 1 and (_is_full(error) or not isinstance(error, OperationalError)):
                # One bad row must not take the others with it, and where the disk is full a short one may find room.
                for entry in batch:
                    self._write_batch([entry])
            else:
                # Handed to the callers: nobody may wait for ever. A database that is gone is not asked row by row.
                self._resolve(futures, error)
        else:
            self._resolve(futures, results)

    def _commit(self, items: Sequence[Begin | End]) -> list[Any]:
        for pause in _PAUSES_S if self.engine.dialect.name == "sqlite" else _SERVER_PAUSES_S:
            try:
                return self._by_thread(items)
            except OperationalError as error:
                if _is_full(error):
                    raise
                # Locked, two PostgreSQL writers in each other's way, or its server gone: the whole transaction can be
                # made again.
                logger.debug("the ledger's transaction is made again: %s", error)
                time.sleep(pause)
        return self._by_thread(items)

    def _by_thread(self, items: Sequence[Begin | End]) -> list[Any]:
        with self.engine.connect() as connection:
            return self._transaction(connection, items)

    def _transaction(self, connection: Connection, items: Sequence[Begin | End]) -> list[Any]:
        begun = connection.begin()  # a lock that is held elsewhere is met here, before anything is counted
        try:
            with begun:
                return self._batch_writer.write(connection, items)
        except sqlite3.Error as error:
            self._batch_writer.forget()
            raise DBAPIError.instance("a batch of the ledger", None, error, sqlite3.Error) from error
        except BaseException:
            self._batch_writer.forget()
            raise

    def _resolve(self, futures: Sequence[asyncio.Future[Any]], results: Sequence[Any] | Exception) -> None:
        """Answer the callers of a batch, each loop woken once."""
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        for index, future in enumerate(futures):
            result = results if isinstance(results, Exception) else results[index]
            by_loop.setdefault(future.get_loop(), []).append((future, result))
        for loop, pairs in by_loop.items():
            try:
                loop.call_soon_threadsafe(self._answered, pairs)
            except RuntimeError:
                # The loop was closed meanwhile: its callers are gone, the record is made.
                logger.debug("a loop was closed before its ledger answers came")


def _is_busy(error: Exception) -> bool:
    """Whether another process writes to the file just now."""
    return _sqlite_code(error) == sqlite3.SQLITE_BUSY


def _is_full(error: Exception) -> bool:
    """Whether SQLite has no room, or no right, to write: no pause mends that."""
    return _sqlite_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY)


def _sqlite_code(error: Exception) -> int:
    """The kind of error, without what tells its variants apart."""
    return getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF


def _set_all(pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
