"""What happened last in a sweep, and what an archive takes of a ledger."""

from __future__ import annotations

from pathlib import Path

from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.ledger.extract import extract_ledger
from seedbed.lm.ledger.recent import latest_calls
from seedbed.lm.ledger.schema import attempts
from tests.support.lm import ledger_url, runtime, scope
from tests.support.loopback import Loopback


def test_the_latest_calls_are_those_of_the_sweep_the_newest_first(tmp_path: Path) -> None:
    with Loopback() as server:
        for execution in ("e1", "e2"):  # each by a writer of its own
            with runtime(tmp_path, server) as made:
                made.lm(scope(execution=execution, cell=execution))(f"Is {execution} even?")
                made.lm(scope(sweep="other"))("Is 3 even?")
    engine = open_database(ledger_url(tmp_path))
    assert [row["cell"] for row in latest_calls(engine, "s", 0, 10)] == ["e2", "e1"]
    engine.dispose()


def test_an_archives_ledger_has_the_attempts_of_its_sweep_and_of_its_cells_and_no_others(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        for sweep, cell in (("s", "kept"), ("s", "gone"), ("other", "kept"), ("other", "foreign")):
            made.lm(scope(sweep=sweep, cell=cell))(f"Is {sweep} {cell} even?")
    engine, target = open_database(ledger_url(tmp_path)), tmp_path / "copy.sqlite"
    assert extract_ledger(engine, "s", ["kept"], target) == 3
    engine.dispose()
    copy = open_database(sqlite_url(target))
    with reading(copy) as connection:
        rows = {
            tuple(row)
            for row in connection.execute(attempts.select().with_only_columns(attempts.c.sweep, attempts.c.cell))
        }
    copy.dispose()
    assert rows == {("s", "kept"), ("s", "gone"), ("other", "kept")}
