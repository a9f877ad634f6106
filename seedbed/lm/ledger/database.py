"""Opening the ledger's database, and knowing which of its writers are alive."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, make_url, select, update
from sqlalchemy.exc import SQLAlchemyError

from seedbed.errors import UserError
from seedbed.lm.ledger import schema

HEARTBEAT_S = 5.0
DEAD_AFTER_S = 60.0
"""A writer silent for so long is taken for dead even if a process of its number runs: numbers are given again."""

_READS = "seedbed_reads"

_own: set[tuple[str, int]] = set()
_own_lock = threading.Lock()
"""Address and id of the writers of this process, which are alive as long as they stand here."""


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def open_database(url: str) -> Engine:
    """An engine on a ledger, made if it is new; a ledger of another schema version is refused."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, pool_pre_ping=parsed.get_backend_name() != "sqlite")
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune_sqlite)
        event.listen(engine, "begin", _begin)
    try:
        with engine.begin() as connection:
            schema.metadata.create_all(connection)
            found = connection.scalar(select(schema.info.c.value).where(schema.info.c.name == "schema_version"))
            if found is None:
                connection.execute(insert(schema.info).values(name="schema_version", value=str(schema.SCHEMA_VERSION)))
    except SQLAlchemyError as error:
        shown = parsed.render_as_string(hide_password=True)
        raise UserError(f"ledger {shown}: cannot be opened ({error.__cause__ or error}).") from None
    if found is not None and found != str(schema.SCHEMA_VERSION):
        raise UserError(
            f"ledger {parsed.render_as_string(hide_password=True)}: schema version {found}, this Seedbed reads "
            f"{schema.SCHEMA_VERSION}; use another `out` or `ledger`."
        )
    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that only reads, and so keeps no writer waiting."""
    with engine.connect() as connection:
        yield connection.execution_options(**{_READS: True})


def register_owner(engine: Engine) -> int:
    """Enter this process as a writer; the number is part of the ids of its attempts."""
    with engine.begin() as connection:
        result = connection.execute(insert(schema.owners).values(host=_host(), pid=os.getpid(), seen_at=time.time()))
        key = result.inserted_primary_key
        assert key is not None
        owner = int(key[0])
    with _own_lock:
        _own.add((str(engine.url), owner))
    return owner


def sign_off(engine: Engine, owner: int) -> None:
    """The writer has ended what it began."""
    with _own_lock:
        _own.discard((str(engine.url), owner))
    with engine.begin() as connection:
        connection.execute(update(schema.owners).where(schema.owners.c.id == owner).values(seen_at=0.0))


def heartbeat(connection: Connection, owner: int) -> None:
    connection.execute(update(schema.owners).where(schema.owners.c.id == owner).values(seen_at=time.time()))


def split_owners(connection: Connection) -> tuple[list[int], list[int]]:
    """The writers that are at work, and those that died: what these began they will not end."""
    now, url = time.time(), str(connection.engine.url)
    with _own_lock:
        own = {owner for address, owner in _own if address == url}
    alive: list[int] = []
    dead: list[int] = []
    for row in connection.execute(select(schema.owners).where(schema.owners.c.seen_at > 0)):
        works = row.id in own or (
            now - row.seen_at < DEAD_AFTER_S
            # Elsewhere only the heartbeat tells; here the process table does, at once.
            and (row.host != _host() or (row.pid != os.getpid() and _process_exists(row.pid)))
        )
        (alive if works else dead).append(row.id)
    return alive, dead


@lru_cache(maxsize=1)
def _host() -> str:
    """This machine as far as process numbers mean the same: containers count theirs separately."""
    namespace = ""
    with suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return f"{socket.gethostname()}/{namespace}"


def _process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with suppress(OSError, IndexError):
        # A killed process whose parent has not asked for its end is still listed, as a zombie.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True


def _tune_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    # NORMAL with a write-ahead log survives the death of the process; only a power cut can lose the last commits.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=60000", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # Taking the write lock at once makes look-up and claim one step; a reader must not take it.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
