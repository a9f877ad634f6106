"""A ledger opened to look at: nothing is made, nothing is changed, and a folder that cannot be written will do."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Engine, create_engine, event, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from seedbed.errors import UserError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import begin_reading, open_database, reading
from seedbed.lm.ledger.url import explain, parse, shown


@contextmanager
def ledger_to_read(url: str) -> Iterator[Engine]:
    """An engine that only reads. A missing or foreign ledger is a UserError."""
    parsed = parse(url)
    if parsed.get_backend_name() != "sqlite":
        engine = open_database(url)
        try:
            yield engine
        finally:
            engine.dispose()
        return
    file = Path(parsed.database or "")
    if not file.is_file():
        raise UserError(f"ledger {file}: there is none; figures of calls, tokens and dollars come from it.")
    with tempfile.TemporaryDirectory(prefix="seedbed-") as folder:
        engine = _engine(_whole(file, Path(folder)))
        try:
            _refuse_foreign(engine, parsed)
            yield engine
        finally:
            engine.dispose()


@contextmanager
def ledger_to_watch(url: str) -> Iterator[Engine]:
    """An engine that only reads while others write: every look sees what was written until then. A missing or foreign
    ledger is a UserError."""
    parsed = parse(url)
    if parsed.get_backend_name() == "sqlite":
        file = Path(parsed.database or "")
        if not file.is_file():
            raise UserError(f"ledger {file}: there is none; figures of calls, tokens and dollars come from it.")
        # Under the ledger's own address: by it a process knows which writers are its own.
        engine = create_engine(parsed, creator=lambda: _connect_live(file), poolclass=NullPool)
        event.listen(engine, "begin", begin_reading)
    else:
        options = {"options": "-c default_transaction_read_only=on", "connect_timeout": 10}
        engine = create_engine(parsed, pool_pre_ping=True, connect_args=options)
    try:
        _refuse_foreign(engine, parsed)
        yield engine
    finally:
        engine.dispose()


def _connect_live(file: Path) -> Any:
    """One connection for one look. Where no writer's log is, SQLite would make one; the file then is all there is."""
    log = file.with_name(f"{file.name}-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    address = f"file:{quote(str(file.resolve()))}?{mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=30)


def _whole(file: Path, folder: Path) -> Path:
    """The file itself, or a copy where a writer left a log beside it: folding that in would change both."""
    log = file.with_name(f"{file.name}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return file
    for part in (log, file):
        shutil.copyfile(part, folder / part.name)
    copy = folder / file.name
    with sqlite3.connect(copy) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return copy


def _engine(file: Path) -> Engine:
    # Immutable: SQLite else wants to make files for its locks beside it.
    address = f"file:{quote(str(file.resolve()))}?mode=ro&immutable=1"

    def connect() -> Any:
        return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)

    return create_engine("sqlite://", creator=connect)


def _refuse_foreign(engine: Engine, url: URL) -> None:
    try:
        with reading(engine) as connection:
            found = connection.scalar(select(schema.info.c.value).where(schema.info.c.name == "schema_version"))
    except SQLAlchemyError as error:
        raise UserError(f"ledger {shown(url)}: {explain(error, url)}") from None
    if found not in schema.READABLE_VERSIONS:
        raise UserError(
            f"ledger {shown(url)}: schema version {found}, this Seedbed reads {schema.SCHEMA_VERSION}; use a Seedbed "
            "of the time it was made."
        )
