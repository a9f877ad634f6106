"""Locks that hold over several hosts, kept in the ledger.

Results on object storage have no file to lock. Conditional puts could do it, but not every S3-compatible store has
them, and they know no dead owner: heartbeats would have to be kept and hosts' clocks compared. The ledger is shared by
all workers of a sweep anyway, has transactions, and already tells living writers from dead ones by one clock: at once
where the process ran on this host, after `DEAD_AFTER_S` of silence elsewhere. So a lock is a row that names its writer,
and a row whose writer is dead is taken over.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from seedbed.lm.ledger.database import reading, split_owners
from seedbed.lm.ledger.schema import locks
from seedbed.lm.ledger.writer import Ledger

logger = logging.getLogger("seedbed.lm")

T = TypeVar("T")

_LOOK_EVERY_S = 0.5
_PAUSES_S = (0.1, 1.0, 3.0, 8.0, 15.0)
"""A server that is started anew is waited for, as the ledger's writer does."""

_held: set[str] = set()
"""Tokens of the locks that this process holds. A row of ours with another token could not be deleted and is stale."""


class LockLost(OSError):
    """This process was silent for so long that another took it for dead and its lock over. A fault of infrastructure:
    a second try waits for the other and finds its result."""


@contextmanager
def hold(ledger: Ledger, name: str, check_stop: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Be the only one, over all processes on this ledger, inside the block. A second one waits, asking `check_stop`
    meanwhile. Yields a check to make before the last write: it raises `LockLost` if the lock is another's by now."""
    token = uuid.uuid4().hex
    _held.add(token)
    try:
        while not _patiently(lambda: _take(ledger, name, token)):
            check_stop()
            time.sleep(_LOOK_EVERY_S)
        try:
            yield lambda: _patiently(lambda: _check(ledger, name, token))
        finally:
            _release(ledger, name, token)
    finally:
        _held.discard(token)


def _take(ledger: Ledger, name: str, token: str) -> bool:
    mine = {"owner": ledger.owner, "token": token}
    with ledger.engine.begin() as connection:
        # Whether a row was written is read from the row: drivers do not agree on how they count.
        connection.execute(_insert(connection).values(name=name, **mine).on_conflict_do_nothing())
        found = _holder(connection, name)
        if found is not None and _is_stale(connection, ledger.owner, found.owner, found.token):
            # Of two that see a dead owner at once, one finds the token changed.
            taken = update(locks).where(locks.c.name == name, locks.c.token == found.token)
            connection.execute(taken.values(**mine))
            found = _holder(connection, name)
        return found is not None and found.token == token


def _holder(connection: Connection, name: str) -> Any:
    return connection.execute(select(locks.c.owner, locks.c.token).where(locks.c.name == name)).first()


def _is_stale(connection: Connection, own: int, owner: int, token: str) -> bool:
    if owner == own:
        return token not in _held
    alive, _ = split_owners(connection)
    return owner not in alive


def _check(ledger: Ledger, name: str, token: str) -> None:
    with reading(ledger.engine) as connection:
        found = _holder(connection, name)
    if found is None or found.token != token:
        raise LockLost(f"{name}: another worker took over while this one was silent")


def _release(ledger: Ledger, name: str, token: str) -> None:
    def give_back() -> None:
        with ledger.engine.begin() as connection:
            connection.execute(delete(locks).where(locks.c.name == name, locks.c.token == token))

    try:
        _patiently(give_back)
    except SQLAlchemyError as error:
        logger.warning("the lock on %s could not be given back (%s); it ends with this process", name, error)


def _patiently(work: Callable[[], T]) -> T:
    for pause in _PAUSES_S:
        try:
            return work()
        except OperationalError as error:
            logger.debug("a lock is asked for again: %s", error)
            time.sleep(pause)
    return work()


def _insert(connection: Connection) -> Any:
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(locks)
