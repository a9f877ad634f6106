"""Opening the ledger's database, and knowing which of its writers are alive."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, make_url, select, update
from sqlalchemy.exc import SQLAlchemyError

from seedbed.errors import UserError
from seedbed.lm.ledger import schema

HEARTBEAT_S = 5.0
DEAD_AFTER_S = 30.0


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
        event.listen(engine, "begin", _begin_immediate)
    try:
        with engine.begin() as connection:
            schema.metadata.create_all(connection)
            found = connection.scalar(select(schema.info.c.value).where(schema.info.c.name == "schema_version"))
            if found is None:
                connection.execute(insert(schema.info).values(name="schema_version", value=str(schema.SCHEMA_VERSION)))
    except SQLAlchemyError as error:
        shown = parsed.render_as_string(hide_password=True)
        raise UserError(f"ledger {shown}: cannot be opened ({str(error.__cause__ or error)}).") from None
    if found is not None and found != str(schema.SCHEMA_VERSION):
        raise UserError(
            f"ledger {parsed.render_as_string(hide_password=True)}: schema version {found}, this Seedbed reads "
            f"{schema.SCHEMA_VERSION}; use another `out` or `ledger`."
        )
    return engine


def register_owner(engine: Engine) -> int:
    """Enter this process as a writer; the number is part of the ids of its attempts."""
    with engine.begin() as connection:
        result = connection.execute(
            insert(schema.owners).values(host=socket.gethostname(), pid=os.getpid(), seen_at=time.time())
        )
        key = result.inserted_primary_key
        assert key is not None
        return int(key[0])


def heartbeat(connection: Connection, owner: int) -> None:
    connection.execute(update(schema.owners).where(schema.owners.c.id == owner).values(seen_at=time.time()))


def dead_owners(connection: Connection, me: int) -> list[int]:
    """Writers that will not end what they began."""
    now, host = time.time(), socket.gethostname()
    dead: list[int] = []
    for row in connection.execute(select(schema.owners)):
        if row.id == me:
            continue
        # Elsewhere only the heartbeat tells; here the process table does, at once.
        gone = not _alive(row.pid) if row.host == host else now - row.seen_at > DEAD_AFTER_S
        if gone:
            dead.append(row.id)
    return dead


def _alive(pid: int) -> bool:
    if pid == os.getpid():
        # Our own number under an older entry: that process is gone and the number was given again.
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _tune_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    # NORMAL with a write-ahead log survives the death of the process; only a power cut can lose the last commits.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=60000", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # Taking the write lock at once makes look-up and claim one step.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
