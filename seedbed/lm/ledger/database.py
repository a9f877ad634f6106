"""Opening the ledger's database, and knowing which of its writers are alive."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Dialect,
    Engine,
    Float,
    cast,
    create_engine,
    event,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from seedbed.errors import UserError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.hosts import elsewhere, host, host_name, network_filesystem, process_exists
from seedbed.lm.ledger.repair import mark_lost
from seedbed.lm.ledger.url import explain, parse, shown, sqlite_url
from seedbed.storage.paths import file_mask

__all__ = [
    "DEAD_AFTER_S",
    "HEARTBEAT_S",
    "INCREMENTAL_VACUUM",
    "begin_reading",
    "clock",
    "heartbeat",
    "nowait_connection",
    "open_database",
    "reading",
    "register_owner",
    "sign_off",
    "split_owners",
    "sqlite_url",
    "works",
]

logger = logging.getLogger("seedbed.lm")

HEARTBEAT_S = 5.0
DEAD_AFTER_S = 60.0
"""A writer silent for so long is taken for dead even if a process of its number runs: numbers are given again."""

INCREMENTAL_VACUUM = 2
"""SQLite's number for files whose free room is given back when it is asked to."""

_CONNECT_S = 10
_MAKING = 0x5EEDBED
"""Number of the lock under which PostgreSQL's tables are made: two that start at once must not both make them."""
_READS = "seedbed_reads"
_GREW = (schema.attempts, schema.responses)

_own: set[tuple[str, int]] = set()
_own_lock = threading.Lock()
"""Address and id of the writers of this process, which are alive as long as they stand here."""


def open_database(url: str) -> Engine:
    """An engine on a ledger, made if it is new; a ledger of another schema version is refused."""
    parsed = parse(url)
    server = parsed.get_backend_name() != "sqlite"
    if not server and parsed.database:
        _make_private(Path(parsed.database))
    try:
        engine = create_engine(
            parsed,
            pool_pre_ping=server,
            # Without a limit an address where nothing answers keeps us waiting for minutes.
            connect_args={"connect_timeout": _CONNECT_S} if server and "connect_timeout" not in parsed.query else {},
        )
    except ModuleNotFoundError as error:
        raise UserError(
            f"ledger {shown(parsed)}: the package {error.name} is missing; pip install 'seedbed[postgres]'."
        ) from None
    if not server:
        event.listen(engine, "connect", _tune_sqlite)
        event.listen(engine, "begin", _begin)
    try:
        found = _schema_version(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise UserError(f"ledger {shown(parsed)}: {explain(error, parsed)}") from None
    if found != str(schema.SCHEMA_VERSION):
        engine.dispose()
        raise UserError(
            f"ledger {shown(parsed)}: schema version {found}, this Seedbed reads {schema.SCHEMA_VERSION}; use another "
            "`out` or `ledger`."
        )
    return engine


def _make_private(file: Path) -> None:
    """The file of a new ledger. It holds every prompt and answer."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o666 & ~file_mask())
    except (OSError, ValueError) as error:
        raise UserError(f"ledger {file}: cannot be written ({error}); name another `out` or `ledger`.") from None


def _schema_version(engine: Engine) -> str:
    """The version of the tables there, which are made if there are none and brought up if they are older."""
    current = str(schema.SCHEMA_VERSION)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MAKING})
        schema.metadata.create_all(connection)
        version = schema.info.c.name == "schema_version"
        found = connection.scalar(select(schema.info.c.value).where(version))
        if found is None:
            connection.execute(insert(schema.info).values(name="schema_version", value=current))
        elif found in ("2", "3"):
            _add_columns(connection)
            connection.execute(update(schema.info).where(version).values(value=current))
        else:
            return found
    return current


def _add_columns(connection: Connection) -> None:
    """A ledger of version 2 gets the columns of version 3, where it lacks them; they stay empty in the rows it has."""
    there = {table.name: {c["name"] for c in inspect(connection).get_columns(table.name)} for table in _GREW}
    for table in _GREW:
        for name in schema.SINCE_VERSION_3:
            if name not in there[table.name]:
                kind = table.c[name].type.compile(connection.dialect)
                connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {name} {kind}"))


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that only reads, and so keeps no writer waiting; all it reads is of one moment."""
    options: dict[str, Any] = {_READS: True}
    if engine.dialect.name == "postgresql":
        options["isolation_level"] = "REPEATABLE READ"
    with engine.connect() as connection:
        yield connection.execution_options(**options)


def nowait_connection(engine: Engine) -> Connection | None:
    """A connection whose transactions fail at once where another writer is in the way; None where each is a round trip
    to a server."""
    if engine.dialect.name != "sqlite":
        return None
    connection = engine.connect()
    connection.detach()  # the other connections of the engine do wait
    assert connection.connection.dbapi_connection is not None
    connection.connection.dbapi_connection.execute("PRAGMA busy_timeout=0")
    return connection


def register_owner(engine: Engine) -> int:
    """Enter this process as a writer; the number is part of the ids of its attempts."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            _refuse_other_hosts(connection)
        entry = insert(schema.owners).values(host=host(), pid=os.getpid(), seen_at=clock(engine.dialect))
        key = connection.execute(entry).inserted_primary_key
        assert key is not None
        owner = int(key[0])
    with _own_lock:
        _own.add((str(engine.url), owner))
    return owner


def sign_off(engine: Engine, owner: int) -> None:
    """The writer has ended. What it began and could not end, as on a full disk, is lost from now on."""
    with _own_lock:
        _own.discard((str(engine.url), owner))
    with engine.begin() as connection:
        mark_lost(connection, [owner])
        connection.execute(update(schema.owners).where(schema.owners.c.id == owner).values(seen_at=0.0))


def heartbeat(connection: Connection, owner: int) -> None:
    seen = update(schema.owners).where(schema.owners.c.id == owner).values(seen_at=clock(connection.dialect))
    connection.execute(seen)


def split_owners(connection: Connection) -> tuple[list[int], list[int]]:
    """The writers that are at work, and those that died: what these began they will not end. One that signed off and
    left something open all the same is as dead."""
    url = str(connection.engine.url)
    # Read before the writers are: one that comes in between is then known to be at work.
    open_ones = set(connection.scalars(select(schema.attempts.c.owner).where(schema.attempts.c.outcome.is_(None))))
    alive: list[int] = []
    dead: list[int] = []
    for row in connection.execute(_signed_on(connection.dialect)):
        (alive if works(url, row.id, row.host, row.pid, row.silent_s) else dead).append(row.id)
    return alive, [*dead, *sorted(open_ones.difference(alive, dead))]


def works(url: str, owner: int, its_host: str, pid: int, silent_s: float) -> bool:
    """Whether a writer that has not signed off is at work."""
    with _own_lock:
        if (url, owner) in _own:
            return True
    # Elsewhere only the heartbeat tells; here the process table does, at once.
    return silent_s < DEAD_AFTER_S and (its_host != host() or (pid != os.getpid() and process_exists(pid)))


def _signed_on(dialect: Dialect) -> Any:
    silent = (clock(dialect) - schema.owners.c.seen_at).label("silent_s")
    return select(schema.owners.c.id, schema.owners.c.host, schema.owners.c.pid, silent).where(
        schema.owners.c.seen_at > 0
    )


def clock(dialect: Dialect) -> Any:
    """Seconds since 1970 by a clock that all writers share: hosts disagree, so a server's own is taken."""
    if dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()), Float)
    return literal(time.time(), Float)


def _refuse_other_hosts(connection: Connection) -> None:
    """The locks of SQLite's write-ahead log live in memory that only processes of one machine share."""
    file = connection.engine.url.database or "in memory"
    for row in connection.execute(_signed_on(connection.dialect)):
        if row.silent_s < DEAD_AFTER_S and elsewhere(row.host):
            raise UserError(
                f"ledger {file}: a process on {host_name(row.host)} is at work on it, and several hosts cannot share "
                "an SQLite file; give all of them `ledger: postgresql+psycopg://USER@HOST/DATABASE` (docs/scaling.md), "
                f"or wait {DEAD_AFTER_S:g} s if that process has died."
            )
    kind = network_filesystem(Path(file).resolve())
    if kind is not None:
        logger.warning("the ledger %s lies on a network file system (%s): use it from one host only", file, kind)


def _tune_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    # NORMAL with a write-ahead log survives the death of the process; only a power cut can lose the last commits.
    # The first only counts for a file that is still empty: what is dropped from it can be given back in pieces.
    for pragma in (
        f"auto_vacuum={INCREMENTAL_VACUUM}",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "busy_timeout=60000",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def begin_reading(connection: Connection) -> None:
    """For engines that only read."""
    connection.exec_driver_sql("BEGIN")


def _begin(connection: Connection) -> None:
    # Taking the write lock at once makes look-up and claim one step; a reader must not take it.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
