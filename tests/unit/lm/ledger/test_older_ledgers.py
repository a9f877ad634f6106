"""A ledger of the version before opens, keeps its answers and takes new ones."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select, text

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import open_database, reading
from tests.support import lm
from tests.support.lm import runtime, scope, sums
from tests.support.loopback import Loopback


def age(folder: Path) -> None:
    """Take from a ledger what version 2 did not have."""
    engine = open_database(lm.ledger_url(folder))
    with engine.begin() as connection:
        for table in ("attempts", "responses"):
            for name in schema.SINCE_VERSION_3:
                connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {name}"))
        connection.execute(text("UPDATE info SET value = '2' WHERE name = 'schema_version'"))
    engine.dispose()


def test_answers_of_an_older_ledger_are_reused_and_new_ones_say_who_answered(tmp_path: Path, each_ledger: str) -> None:
    with Loopback() as server:
        with runtime(tmp_path, server) as made:
            made.lm(scope())("a")
        age(tmp_path)
        with runtime(tmp_path, server) as made:
            made.lm(scope(execution="e2"))("a")
            made.lm(scope(execution="e2"))("b")
    assert sums(tmp_path).outcomes == {"paid": 2, "reused": 1}
    a = schema.attempts
    engine = open_database(lm.ledger_url(tmp_path))
    with reading(engine) as connection:
        rows = connection.execute(select(a.c.outcome, a.c.answered_by, a.c.provider).order_by(a.c.id)).all()
        version = connection.scalar(select(schema.info.c.value))
    engine.dispose()
    assert [tuple(row) for row in rows] == [("paid", None, None), ("reused", None, None), ("paid", "loop", "127.0.0.1")]
    assert version == str(schema.SCHEMA_VERSION)
