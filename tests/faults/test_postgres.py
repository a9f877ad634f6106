"""Sweeps whose ledger is a PostgreSQL server: real processes, a real Prefect server, a counting endpoint."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database, sqlite_url
from seedbed.lm.ledger.url import parse
from tests.flows.test_secrets import files_with
from tests.support.lm import assert_books_agree, runtime, scope
from tests.support.loopback import Loopback
from tests.support.postgres import PASSWORD, Postgres
from tests.support.sweeps import Sweep


def _sweep(folder: Path, server: Loopback, url: str) -> Sweep:
    sweep = Sweep(folder, server, f"ledger: {url}\n")
    sweep.ledger = url
    return sweep


@pytest.mark.usefixtures("seedbed_home")
def test_a_sweep_on_postgresql_gives_the_account_of_one_on_sqlite(
    tmp_path: Path, postgres: Postgres, calm: Sweep
) -> None:
    with Loopback() as server:
        sweep = _sweep(tmp_path, server, postgres.database_of(tmp_path))
        code, _, err = sweep.run()
        assert code == 0, err
        requests = server.books.requests
        # Nothing is left to do: no call is made, and the account stays.
        code, _, err = sweep.run()
        assert code == 0, err
        assert server.books.requests == requests
    assert sweep.usage() == calm.usage()
    assert sweep.outcomes() == calm.outcomes()
    assert not (sweep.out / "ledger.sqlite").exists()
    assert main(["verify", "loop", "--out", str(sweep.out)]) == 0
    assert main(["costs", "loop", "--out", str(sweep.out)]) == 0


@pytest.mark.usefixtures("seedbed_home")
def test_two_runs_at_once_and_a_kill_pay_for_nothing_twice_but_what_was_in_flight(
    tmp_path: Path, postgres: Postgres
) -> None:
    with Loopback(latency_s=0.06) as server:
        sweep = _sweep(tmp_path, server, postgres.database_of(tmp_path))
        doomed, other = sweep.start(), sweep.start()
        while server.books.requests < 30:
            assert doomed.poll() is None
            time.sleep(0.005)
        doomed.send_signal(signal.SIGKILL)
        doomed.communicate()
        _, err = other.communicate(timeout=600)
        # Cells that the killed run had locked may have failed in the other; the same command completes them.
        code, _, err = sweep.run()
        assert code == 0, err
        attempts, names = sweep.attempts(), sweep.sent_names()
    paid = Counter(names[row.key] for row in attempts if row.outcome == "paid")
    lost = Counter(names[row.key] for row in attempts if row.outcome == "lost")
    assert None not in sweep.outcomes()
    assert lost.total() <= 6
    for name, count in server.books.by_body.items():
        assert paid[name] <= count <= paid[name] + lost[name]


@pytest.mark.usefixtures("seedbed_home")
def test_an_exported_ledger_replays_a_sweep_without_server_and_database(tmp_path: Path, postgres: Postgres) -> None:
    with Loopback() as server:
        sweep = _sweep(tmp_path / "first", server, postgres.database_of(tmp_path))
        code, _, err = sweep.run()
        assert code == 0, err
        requests = server.books.requests
    paper = tmp_path / "paper.sqlite"
    assert main(["ledger", "export", "--ledger", sweep.ledger, "--sweep", "loop", "--to", str(paper)]) == 0
    again = _sweep(tmp_path / "again", server, sqlite_url(paper))
    code, _, err = again.run("--replay")
    assert code == 0, err
    assert again.usage() == sweep.usage()
    assert server.books.requests == requests


def test_a_password_comes_from_the_environment_and_reaches_no_file(
    tmp_path: Path, postgres: Postgres, seedbed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.database("behind_a_password", "locked")
    with Loopback() as server:
        sweep = _sweep(tmp_path, server, url)
        monkeypatch.delenv("PGPASSWORD", raising=False)
        code, out, err = sweep.run()
        assert code == 2
        assert "set PGPASSWORD" in err
        assert err.count("\n") == 1, err
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        code, out, err = sweep.run()
        assert code == 0, err
    assert PASSWORD not in out + err
    assert server.books.requests > 0
    assert files_with(PASSWORD, tmp_path, seedbed_home) == []


@pytest.mark.parametrize("form", ["postgresql+psycopg://me:{}@127.0.0.1/x", "postgresql://127.0.0.1/x?password={}"])
def test_a_password_in_a_config_is_refused_and_not_repeated(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Loopback() as server:
        sweep = _sweep(tmp_path, server, form.format(PASSWORD))
    assert main(["run", str(sweep.config), "--out", str(sweep.out)]) == 2
    err = capsys.readouterr().err
    assert "leave" in err
    assert "PGPASSWORD" in err
    assert PASSWORD not in err
    assert not sweep.out.exists()


@pytest.mark.parametrize(
    ("user", "database_name", "said"),
    [
        ("postgres", "not_there", 'database "not_there" does not exist.*createdb'),
        ("nobody", "postgres", 'role "nobody" does not exist.*createuser'),
        ("guest", "postgres", "permission denied for schema public.*GRANT CREATE"),
    ],
)
def test_a_refusal_is_one_sentence_with_a_remedy(postgres: Postgres, user: str, database_name: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        open_database(postgres.url(database_name, user))
    assert "\n" not in str(caught.value)


def test_an_unreachable_server_is_one_sentence_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("psycopg")
    assert main(["ledger", "stats", "--ledger", "postgresql://me@127.0.0.1:9/x"]) == 2
    err = capsys.readouterr().err
    assert "ledger postgresql+psycopg://me@127.0.0.1:9/x: cannot be opened" in err
    assert "check that the server runs" in err
    assert err.count("\n") == 1


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UserError, match=r"the package psycopg is missing; pip install 'seedbed\[postgres\]'"):
        open_database("postgresql+psycopg://me@127.0.0.1:9/x")


def test_other_databases_are_refused() -> None:
    with pytest.raises(UserError, match="mysql is not supported"):
        parse("mysql://me@host/x")
    with pytest.raises(UserError, match="not an address"):
        parse("ledger.sqlite")


def test_many_processes_that_start_at_once_make_the_tables_once(postgres: Postgres) -> None:
    url, failed = postgres.database("made_at_once"), []

    def open_it() -> None:
        try:
            open_database(url).dispose()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_columns_hold_what_is_put_into_them(postgres: Postgres) -> None:
    import psycopg

    open_database(postgres.database("columns")).dispose()
    with psycopg.connect(postgres.url("columns", driver="postgresql")) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
        ).fetchall()
    types = {f"{table}.{column}": kind for table, column, kind in rows}
    assert types["attempts.id"] == "bigint"
    assert types["responses.body"] == types["requests.body"] == "bytea"
    floats = [name for name in types if name.endswith(("_usd", "_at", "_s"))]
    assert len(floats) >= 9
    assert {types[name] for name in floats} == {"double precision"}


def test_a_server_that_is_started_anew_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a server of its own, since everybody connected to it is thrown out."""
    from tests.support.postgres import missing

    if (reason := missing()) is not None:
        pytest.skip(reason)
    with Postgres() as own, Loopback(latency_s=0.3) as server:
        url = own.database("restarted")
        monkeypatch.setattr("tests.support.lm.ledger_url", lambda _folder: url)
        with runtime(tmp_path, server) as made:
            lm = made.lm(scope())
            assert lm("before")[0]
            asked = threading.Thread(target=lambda: lm("during"))
            asked.start()
            while server.books.requests < 2:
                time.sleep(0.005)
            # The answer is on its way, and has to be recorded in a database that is gone.
            own.stop()
            time.sleep(0.5)
            own.start()
            asked.join(600)
            assert lm("after")[0]
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": 3}


def test_writers_that_get_in_each_others_way_try_again(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real deadlock: another session holds the cap's row and waits for a row that the writer has just locked."""
    import psycopg

    from tests.support.lm import caps

    url = postgres.database_of(tmp_path)
    # A session looks for deadlocks when it has waited so long: the writer is to find it, not the other session.
    postgres.sql(f"ALTER DATABASE {url.rpartition('/')[2]} SET deadlock_timeout = '3s'")
    monkeypatch.setattr("tests.support.lm.ledger_url", postgres.database_of)
    with Loopback() as server, runtime(tmp_path, server) as made:
        assert made.lm(scope(), caps(1.0))("first")[0]
        plain = url.replace("+psycopg", "")
        with psycopg.connect(plain) as other:
            other.execute("SET deadlock_timeout = '60s'")
            other.execute("INSERT INTO requests (key, body) SELECT 'x', ''")
            other.execute("SELECT * FROM budgets WHERE scope = 'sweep:s' FOR UPDATE")
            asked = threading.Thread(target=lambda: made.lm(scope(cell="a"), (*caps(1.0, "cell:a"), *caps(1.0)))("2"))
            asked.start()
            # The writer holds the row of cell:a, which it took first, and waits for the sweep's.
            with psycopg.connect(plain, autocommit=True) as watch:
                while not watch.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                    time.sleep(0.01)
            other.execute("INSERT INTO budgets VALUES ('cell:a', 0, 0, 0) ON CONFLICT DO NOTHING")
            other.rollback()
        asked.join(600)
        assert not asked.is_alive()
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": 2}
