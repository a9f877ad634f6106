"""Pruning in pieces: nobody waits for it, and what begins meanwhile keeps what is left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, func, insert, select

from seedbed.cli.main import main
from seedbed.lm.ledger import prune as pruning
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import open_database, register_owner, sign_off, sqlite_url
from seedbed.lm.ledger.prune import prune

BODIES = 12


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(pruning, "PIECE", 5)
    made = open_database(sqlite_url(tmp_path / "ledger.sqlite"))
    with made.begin() as connection:
        for number in range(BODIES):
            key = f"{number:064d}"
            shared = {"owner": 1, "sweep": "old", "cell": "c", "phase": "generate", "role": "task", "execution": "e",
                      "model": "m", "key": key, "number": 1, "generation": 0, "outcome": "paid", "started_at": 1.0,
                      "estimated": False}  # fmt: skip
            connection.execute(insert(schema.attempts).values(id=number + 1, **shared))
            connection.execute(insert(schema.requests).values(key=key, body=b"q" * 20_000))
            usage = dict.fromkeys(("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "generation"), 0)
            connection.execute(insert(schema.responses).values(key=key, body=b"a", estimated=False, **usage))
    yield made
    made.dispose()


def kept(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(schema.requests)) or 0


def test_counting_takes_no_lock(engine: Engine, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        found = prune(engine, before=2.0, sweep=None, apply=False)
        other.execute("ROLLBACK")
    assert (found.answers, found.size) == (BODIES, BODIES * 20_001)


def test_every_piece_is_a_transaction_of_its_own(engine: Engine) -> None:
    """Between two of them somebody else can write."""
    sizes: list[int] = []

    @event.listens_for(engine, "commit")
    def _committed(_: object) -> None:
        sizes.append(0)

    assert prune(engine, before=2.0, sweep=None, apply=True).answers == BODIES
    assert len(sizes) == 1 + 3, "who is at work, and 12 keys by fives"
    assert kept(engine) == 0


@pytest.mark.parametrize("ended", [False, True], ids=["at work", "ended already"])
def test_a_sweep_that_begins_meanwhile_keeps_the_rest(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    """Also one that has ended again: what it reused was unused when the keys were looked up."""
    own = pruning._add

    def add_and_begin(*arguments: object) -> None:
        own(*arguments)  # type: ignore[arg-type]
        monkeypatch.setattr(pruning, "_add", own)
        begun.append(True)

    begun: list[bool] = []
    writers: list[int] = []

    def begin(_: float) -> None:
        if begun and not writers:
            writers.append(register_owner(engine))
            if ended:
                sign_off(engine, writers[0])

    monkeypatch.setattr(pruning, "_add", add_and_begin)
    monkeypatch.setattr(pruning.time, "sleep", begin)
    monkeypatch.setattr("seedbed.cli.ledger.open_database", lambda _: engine)
    folder = ["--ledger", str(tmp_path / "ledger.sqlite")]
    assert main(["ledger", "prune", *folder, "--sweep", "old", "--yes"]) == 2
    assert "dropped 5 stored answers, 0.1 MB and left the rest: a sweep began meanwhile (process" in (
        capsys.readouterr().err
    )
    assert kept(engine) == BODIES - 5
    if not ended:
        sign_off(engine, writers[0])


def test_the_room_goes_back_to_the_disk_without_writing_the_file_anew(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    statements: list[str] = []

    def size() -> int:
        with sqlite3.connect(file) as connection:
            return connection.execute("PRAGMA page_count").fetchone()[0]

    before = size()
    with engine.connect() as connection:
        assert connection.connection.dbapi_connection is not None
        connection.connection.dbapi_connection.set_trace_callback(statements.append)
    prune(engine, before=2.0, sweep=None, apply=True)
    assert size() < before / 2
    assert not [statement for statement in statements if statement == "VACUUM"]


def test_a_ledger_of_before_is_written_anew_once(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE older (x)")  # a file that was begun without it
    engine = open_database(sqlite_url(file))
    prune(engine, before=2.0, sweep=None, apply=True)
    engine.dispose()
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 2
