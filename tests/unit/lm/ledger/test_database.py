"""Opening a ledger, and who of its writers is at work."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, inspect, select, text, update
from sqlalchemy.exc import OperationalError

from seedbed.errors import UserError
from seedbed.lm.ledger import database, schema
from seedbed.lm.ledger.database import (
    heartbeat,
    nowait_connection,
    open_database,
    reading,
    register_owner,
    sign_off,
    split_owners,
    sqlite_url,
    works,
)
from seedbed.lm.ledger.hosts import host
from tests.unit.lm.ledger.conftest import NO_END, attempt, open_files, put

NOW = 1000.0
LIVING = 77
"""Number of a process that runs, in the tests that say so."""


def seen(engine: Engine) -> dict[int, float]:
    o = schema.owners
    with engine.connect() as connection:
        return {row.id: row.seen_at for row in connection.execute(select(o.c.id, o.c.seen_at))}


# -- opening -----------------------------------------------------------------------------------------------------------


def test_a_ledger_is_made_with_its_folders_and_says_its_version(tmp_path: Path) -> None:
    file = tmp_path / "some" / "folders" / "ledger.sqlite"
    open_database(sqlite_url(file)).dispose()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT * FROM info").fetchall() == [("schema_version", "4")]


def test_opening_it_again_changes_nothing(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "ledger.sqlite")
    engine = open_database(url)
    put(engine, attempt(1))
    engine.dispose()
    again = open_database(url)
    with again.connect() as connection:
        assert connection.scalar(select(schema.attempts.c.key)) == "k1"
        assert list(connection.scalars(select(schema.info.c.value))) == ["4"]
    again.dispose()


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_ledger_of_an_older_version_gets_what_it_lacks(tmp_path: Path, version: str) -> None:
    url = sqlite_url(tmp_path / "ledger.sqlite")
    engine = open_database(url)
    put(engine, attempt(1))
    with engine.begin() as connection:
        for table in ("attempts", "responses") if version == "2" else ():
            for name in schema.SINCE_VERSION_3[1:]:
                connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {name}"))
        connection.execute(update(schema.info).values(value=version))
    schema.batches.drop(engine)
    engine.dispose()
    engine = open_database(url)
    tables = inspect(engine)
    assert tables.has_table("batches")
    for table in (schema.attempts, schema.responses):
        assert {column["name"] for column in tables.get_columns(table.name)} == {column.name for column in table.c}
    with engine.connect() as connection:
        assert connection.execute(select(schema.attempts.c.key, schema.attempts.c.provider)).all() == [("k1", None)]
        assert list(connection.scalars(select(schema.info.c.value))) == ["4"]
    engine.dispose()


@pytest.mark.parametrize("version", ["1", "5"])
def test_a_ledger_of_a_version_that_is_not_known_is_left_alone(tmp_path: Path, version: str) -> None:
    url = sqlite_url(tmp_path / "ledger.sqlite")
    engine = open_database(url)
    with engine.begin() as connection:
        connection.execute(update(schema.info).values(value=version))
    engine.dispose()
    told = f"schema version {version}, this Seedbed reads 4; use another `out` or `ledger`."
    with pytest.raises(UserError, match=told):
        open_database(url)
    assert open_files(tmp_path) == []
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        assert connection.execute("SELECT value FROM info").fetchall() == [(version,)]


def test_a_file_that_is_no_ledger_is_told_and_closed(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("my notes " * 100)
    with pytest.raises(UserError, match=r"cannot be opened \(file is not a database\); name another"):
        open_database(sqlite_url(tmp_path / "ledger.sqlite"))
    assert open_files(tmp_path) == []


def test_a_database_of_something_else_is_told_and_closed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        connection.execute("CREATE TABLE info (said)")
    with pytest.raises(UserError, match=r"cannot be opened \(no such column: info\.value\); name another"):
        open_database(sqlite_url(tmp_path / "ledger.sqlite"))
    assert open_files(tmp_path) == []


def test_a_place_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^ledger .*/file/ledger\.sqlite: cannot be written \(.*\); name another"):
        open_database(sqlite_url(tmp_path / "file" / "ledger.sqlite"))


def test_a_ledger_can_live_in_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    engine = open_database("sqlite://")
    owner = register_owner(engine)
    assert owner == 1
    sign_off(engine, owner)
    engine.dispose()
    assert list(tmp_path.iterdir()) == []


class _Asked(Exception):
    pass


@pytest.mark.parametrize(
    ("url", "patience", "checked"),
    [
        ("sqlite:///{folder}/ledger.sqlite", {}, False),
        ("postgresql://ann@db/runs", {"connect_timeout": 10}, True),
        ("postgresql://ann@db/runs?connect_timeout=3", {}, True),
    ],
    ids=["a file", "a server", "a server with a limit of one's own"],
)
def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, patience: dict[str, int], checked: bool
) -> None:
    def ask(_: object, **settings: Any) -> None:
        raise _Asked(settings)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(database, "create_engine", ask)
    with pytest.raises(_Asked) as asked:
        open_database(url.format(folder=tmp_path))
    assert asked.value.args == ({"pool_pre_ping": checked, "connect_args": patience},)
    assert not (tmp_path / "runs").exists(), "a server's ledger is no file"


def test_the_missing_client_of_a_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def lack(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")

    monkeypatch.setattr(database, "create_engine", lack)
    with pytest.raises(UserError, match=r"the package psycopg is missing; pip install 'seedbed\[postgres\]'\.$"):
        open_database("postgresql://ann@db/runs")


def test_two_that_make_a_servers_tables_at_once_take_turns(postgres: Any, tmp_path: Path) -> None:
    url = postgres.database_of(tmp_path)
    other = create_engine(url)
    with other.begin() as connection:
        connection.execute(text(f"SELECT pg_advisory_xact_lock({0x5EEDBED})"))
        with pytest.raises(UserError, match="lock timeout"):
            open_database(f"{url}?options=-c%20lock_timeout%3D100")
    open_database(url).dispose()
    other.dispose()


# -- connections -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value"),
    [("auto_vacuum", 2), ("journal_mode", "wal"), ("synchronous", 1), ("busy_timeout", 60000), ("temp_store", 2)],
)
def test_a_file_is_kept_for_many_that_write_to_it(engine: Engine, setting: str, value: object) -> None:
    with engine.connect() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {setting}").scalar() == value


@pytest.fixture
def other(engine: Engine) -> Iterator[sqlite3.Connection]:
    """Another process on the same file, which waits for nobody."""
    assert engine.url.database is not None
    with closing(sqlite3.connect(engine.url.database, timeout=0, isolation_level=None)) as connection:
        yield connection


def test_who_will_write_keeps_others_out_from_the_beginning(engine: Engine, other: sqlite3.Connection) -> None:
    with engine.begin(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")


def test_who_only_reads_keeps_nobody_out_and_sees_one_moment(engine: Engine, other: sqlite3.Connection) -> None:
    count = text("SELECT count(*) FROM sweeps")
    with reading(engine) as connection:
        assert connection.scalar(count) == 0
        other.execute("INSERT INTO sweeps VALUES ('s', 1)")
        assert connection.scalar(count) == 0
    with reading(engine) as connection:
        assert connection.scalar(count) == 1


def test_one_connection_does_not_wait_and_all_others_do(engine: Engine, other: sqlite3.Connection) -> None:
    other.execute("BEGIN IMMEDIATE")
    impatient = nowait_connection(engine)
    assert impatient is not None
    with pytest.raises(OperationalError, match="locked"):
        impatient.begin()
    other.execute("COMMIT")
    impatient.close()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 60000


# -- writers -----------------------------------------------------------------------------------------------------------


def test_a_writer_is_at_work_from_its_entry_until_it_signs_off(engine: Engine) -> None:
    first, second = register_owner(engine), register_owner(engine)
    with engine.connect() as connection:
        assert split_owners(connection) == ([first, second], [])
    sign_off(engine, first)
    with engine.connect() as connection:
        assert split_owners(connection) == ([second], [])
    assert seen(engine)[first] == 0.0
    assert seen(engine)[second] > 0.0
    assert not works(str(engine.url), first, host(), os.getpid(), 0.0)
    sign_off(engine, second)


def test_a_number_is_given_to_one_writer_only(engine: Engine) -> None:
    for expected in (1, 2):
        owner = register_owner(engine)
        assert owner == expected
        sign_off(engine, owner)
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM owners"))


def test_what_a_writer_leaves_open_when_it_signs_off_is_lost(engine: Engine) -> None:
    owners = [register_owner(engine) for _ in range(2)]
    put(engine, *(attempt(1, owner=owner, key=f"of {owner}", **NO_END) for owner in owners))
    sign_off(engine, owners[0])
    with engine.connect() as connection:
        left = list(connection.scalars(select(schema.attempts.c.outcome).order_by(schema.attempts.c.id)))
    sign_off(engine, owners[1])
    assert left == ["lost", None]


def test_a_heartbeat_is_ones_own(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = [register_owner(engine) for _ in range(2)]
    before = seen(engine)
    monkeypatch.setattr(database.time, "time", lambda: NOW)
    with engine.begin() as connection:
        heartbeat(connection, owners[1])
    assert seen(engine) == {owners[0]: before[owners[0]], owners[1]: NOW}
    for owner in owners:
        sign_off(engine, owner)


def planted(engine: Engine, silent_s: float, of: str, pid: int = 1) -> None:
    with engine.begin() as connection:
        row = {"host": of, "pid": pid, "seen_at": NOW - silent_s}
        connection.execute(schema.owners.insert().values(**row))


def test_who_died_is_told_from_who_is_at_work_and_from_who_signed_off(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, attempt(1), attempt(1, owner=2, key="open", **NO_END))
    planted(engine, 10.0, "far/boot/processes")
    planted(engine, 999.0, "far/boot/processes")
    monkeypatch.setattr(database.time, "time", lambda: NOW)
    with engine.connect() as connection:
        assert split_owners(connection) == ([3], [4, 2])


@pytest.mark.parametrize(
    ("its_host", "pid", "silent_s", "at_work"),
    [
        ("far/boot/processes", 5, 59.9, True),
        ("far/boot/processes", 5, 60.0, False),
        ("far/boot/processes", LIVING, 61.0, False),
        (None, LIVING, 59.9, True),
        (None, LIVING, 60.0, False),
        (None, 5, 1.0, False),
        (None, os.getpid(), 1.0, False),
    ],
    ids=[
        "elsewhere", "elsewhere, silent for a minute", "elsewhere, a process of its number runs here",
        "here, its process runs", "here, silent for a minute", "here, its process is gone", "here, its number is ours",
    ],
)  # fmt: skip
def test_a_writer_works_while_it_is_heard_of_and_here_while_its_process_runs(
    monkeypatch: pytest.MonkeyPatch, its_host: str | None, pid: int, silent_s: float, at_work: bool
) -> None:
    monkeypatch.setattr(database, "process_exists", lambda number: number in (LIVING, os.getpid()))
    assert works("sqlite:///nobody's.sqlite", 1, its_host or host(), pid, silent_s) is at_work


def test_a_writer_of_this_process_works_however_long_it_is_silent(engine: Engine) -> None:
    owner = register_owner(engine)
    assert works(str(engine.url), owner, "far/boot/processes", 5, 1e9)
    assert not works("sqlite:///another.sqlite", owner, "far/boot/processes", 5, 1e9)
    sign_off(engine, owner)


@pytest.mark.parametrize(
    ("silent_s", "of", "refused"),
    [
        (59.9, "far/boot/processes", True),
        (60.0, "far/boot/processes", False),
        (1.0, host(), False),
        (999.0, host(), False),
    ],
    ids=["of another host", "of another host, silent for a minute", "of this host", "of this host, dead"],
)
def test_a_file_is_refused_while_a_writer_of_another_host_is_heard_of(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, silent_s: float, of: str, refused: bool
) -> None:
    planted(engine, silent_s, of)
    monkeypatch.setattr(database.time, "time", lambda: NOW)
    if not refused:
        owner = register_owner(engine)
        assert owner == 2
        sign_off(engine, owner)
        return
    with pytest.raises(
        UserError, match=rf"^ledger {engine.url.database}: a process on far is at work .*, or wait 60 s"
    ):
        register_owner(engine)


@pytest.mark.parametrize("kind", [None, "nfs4"])
def test_it_is_the_ledgers_own_file_that_may_lie_on_a_network(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str | None
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(database, "network_filesystem", lambda file: asked.append(file) or kind)
    sign_off(engine, register_owner(engine))
    assert asked == [Path(str(engine.url.database)).resolve()]
    assert ("network file system" in caplog.text) is (kind is not None)
