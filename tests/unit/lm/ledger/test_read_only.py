"""A ledger that is only looked at: nothing is made or changed beside it, and what cannot be read is told."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select, text
from sqlalchemy.exc import DBAPIError

from seedbed.errors import UserError
from seedbed.lm.ledger import read_only, schema
from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.ledger.read_only import ledger_to_read, ledger_to_watch
from tests.unit.lm.ledger.conftest import open_files

Look = Callable[[str], AbstractContextManager[Engine]]
EACH = pytest.mark.parametrize("look", [ledger_to_read, ledger_to_watch], ids=["read", "watch"])


@contextmanager
def writing(file: Path) -> Iterator[Engine]:
    """A ledger that somebody writes to meanwhile."""
    engine = open_database(sqlite_url(file))
    try:
        yield engine
    finally:
        engine.dispose()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger that its writer has closed."""
    path = tmp_path / "lab" / "ledger #1.sqlite"
    with writing(path) as engine:
        write(engine, "a")
    return path


def write(engine: Engine, sweep: str) -> None:
    with engine.begin() as connection:
        connection.execute(insert(schema.sweeps).values(name=sweep, generation=1))


def sweeps(engine: Engine) -> list[str]:
    with reading(engine) as connection:
        return list(connection.scalars(select(schema.sweeps.c.name).order_by(schema.sweeps.c.name)))


def found(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@EACH
def test_looking_leaves_everything_as_it_was(file: Path, look: Look) -> None:
    before = found(file.parent)
    with look(sqlite_url(file)) as engine:
        assert sweeps(engine) == ["a"]
        with pytest.raises(DBAPIError, match="readonly"):
            write(engine, "b")
    assert found(file.parent) == before


@EACH
def test_what_stands_in_a_writers_log_is_seen_and_stays_there(tmp_path: Path, look: Look) -> None:
    file = tmp_path / "ledger.sqlite"
    with writing(file) as writer:
        write(writer, "a")
        before = found(tmp_path)
        assert before["ledger.sqlite-wal"]
        with look(sqlite_url(file)) as engine:
            assert sweeps(engine) == ["a"]
        after = found(tmp_path)
    assert {name: after[name] for name in ("ledger.sqlite", "ledger.sqlite-wal")} == {
        name: before[name] for name in ("ledger.sqlite", "ledger.sqlite-wal")
    }


def test_an_empty_log_beside_it_is_as_good_as_none(file: Path) -> None:
    log = file.with_name(f"{file.name}-wal")
    log.touch()
    with ledger_to_read(sqlite_url(file)) as engine:
        assert sweeps(engine) == ["a"]
        assert "immutable=1" in address(engine)
        assert Path(address(engine)[5:].partition("?")[0].replace("%20", " ").replace("%23", "#")) == file
    with ledger_to_watch(sqlite_url(file)) as engine:
        assert sweeps(engine) == ["a"]
    assert log.exists()
    assert not file.with_name(f"{file.name}-shm").exists()


def address(engine: Engine) -> str:
    """Where a ledger is really read."""
    asked: list[str] = []
    own = sqlite3.connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_only.sqlite3, "connect", lambda place, **more: asked.append(place) or own(place, **more))
        engine.dispose()
        with engine.connect():
            pass
    return asked[0]


def test_who_watches_sees_what_is_written_meanwhile(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    with writing(file) as writer, ledger_to_watch(sqlite_url(file)) as engine:
        assert sweeps(engine) == []
        write(writer, "a")
        assert sweeps(engine) == ["a"]
        assert engine.url.database == str(file)


@EACH
def test_all_that_is_read_at_once_is_of_one_moment(tmp_path: Path, look: Look) -> None:
    file = tmp_path / "ledger.sqlite"
    count = text("SELECT count(*) FROM sweeps")
    with writing(file) as writer, look(sqlite_url(file)) as engine, reading(engine) as connection:
        assert connection.scalar(count) == 0
        write(writer, "a")
        assert connection.scalar(count) == 0


@EACH
def test_a_ledger_can_be_looked_at_from_another_thread(file: Path, look: Look) -> None:
    seen: list[Any] = []
    with look(sqlite_url(file)) as engine:
        sweeps(engine)
        thread = threading.Thread(target=lambda: seen.append(sweeps(engine)))
        thread.start()
        thread.join(200)
        with reading(engine) as connection:
            thread = threading.Thread(target=lambda: seen.append(connection.scalar(text("SELECT 1"))))
            thread.start()
            thread.join(200)
    assert seen == [["a"], 1]


@EACH
def test_a_ledger_that_is_not_there_is_told_and_not_made(tmp_path: Path, look: Look) -> None:
    told = rf"^ledger {tmp_path}/none\.sqlite: there is none; figures of calls, tokens and dollars come from it\.$"
    with pytest.raises(UserError, match=told), look(sqlite_url(tmp_path / "none.sqlite")):
        pass
    assert list(tmp_path.iterdir()) == []


@EACH
def test_a_ledger_without_a_place_is_not_there(look: Look) -> None:
    with pytest.raises(UserError, match=r"^ledger \.: there is none"), look("sqlite://"):
        pass


@EACH
@pytest.mark.parametrize(("version", "known"), [("2", False), ("3", True), ("4", True), ("5", False)])
def test_a_ledger_is_read_in_its_own_version_or_the_one_before(
    file: Path, look: Look, version: str, known: bool
) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO info VALUES ('a word more', 'x')")
        connection.execute("UPDATE info SET value = ? WHERE name = 'schema_version'", (version,))
        connection.commit()
    if known:
        with look(sqlite_url(file)) as engine:
            assert sweeps(engine) == ["a"]
        return
    told = f"schema version {version}, this Seedbed reads 4; use a Seedbed of the time it was made."
    with pytest.raises(UserError, match=told), look(sqlite_url(file)):
        pass


@EACH
def test_a_file_that_is_no_ledger_is_told(tmp_path: Path, look: Look) -> None:
    (tmp_path / "ledger.sqlite").write_text("my notes " * 100)
    with (
        pytest.raises(UserError, match=r"cannot be opened \(file is not a database\)"),
        look(sqlite_url(tmp_path / "ledger.sqlite")),
    ):
        pass


@EACH
def test_after_a_look_no_file_is_left_open(file: Path, look: Look) -> None:
    with look(sqlite_url(file)) as engine:
        sweeps(engine)
    assert open_files(file.parent) == []


def test_a_copy_with_a_log_is_read_from_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """As on a medium that is only read: the log is folded into a copy, which goes when the look ends."""
    file, taken = tmp_path / "ledger.sqlite", tmp_path / "taken"
    taken.mkdir()
    with writing(file) as writer:
        write(writer, "a")
        for path in (file, file.with_name("ledger.sqlite-wal")):
            shutil.copyfile(path, taken / path.name)
    with ledger_to_read(sqlite_url(taken / "ledger.sqlite")) as engine:
        assert sweeps(engine) == ["a"]
        place = Path(address(engine)[5:].partition("?")[0])
        assert place.parent != taken
        assert not place.with_name("ledger.sqlite-wal").exists()
    assert not place.parent.exists()


def test_a_servers_ledger_is_looked_at_without_being_written_or_kept_open(postgres: Any, tmp_path: Path) -> None:
    url = postgres.database_of(tmp_path)
    writer = open_database(url)
    with ledger_to_watch(url) as watching:
        write(writer, "a")
        assert sweeps(watching) == ["a"]
        with pytest.raises(DBAPIError, match="read-only transaction"):
            write(watching, "b")
    writer.dispose()
    with ledger_to_read(url) as engine:
        assert sweeps(engine) == ["a"]
    pools: list[Any] = [watching.pool, engine.pool]
    assert [pool.checkedin() for pool in pools] == [0, 0]


def test_a_server_that_is_started_anew_is_watched_on(postgres: Any, tmp_path: Path) -> None:
    url = postgres.database_of(tmp_path)
    open_database(url).dispose()
    with ledger_to_watch(url) as engine:
        assert sweeps(engine) == []
        postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{engine.url.database}'")
        assert sweeps(engine) == []
