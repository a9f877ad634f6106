"""`seedbed ledger`: figures, copies to replay from, and pruning that keeps the account."""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.errors import ReplayMiss
from seedbed.lm.ledger import Begin, Ledger
from seedbed.lm.ledger.database import open_database, sqlite_url
from seedbed.lm.ledger.upkeep import stats
from seedbed.lm.runtime import LMRuntime
from tests.support import lm
from tests.support.lm import located, model, runtime, scope, sums
from tests.support.loopback import Loopback
from tests.support.worker import Worker


@pytest.fixture
def used(tmp_path: Path, each_ledger: str) -> tuple[Path, Loopback]:
    """A ledger with two sweeps, of which the second reused an answer of the first."""
    with Loopback() as server, runtime(tmp_path, server) as made:
        for sweep, questions in (("first", ("a", "b")), ("second", ("b", "c"))):
            for question in questions:
                made.lm(scope(sweep=sweep))(question)
    return tmp_path, server


def test_stats_show_each_sweep(used: tuple[Path, Loopback], capsys: pytest.CaptureFixture[str]) -> None:
    folder, server = used
    assert main(["ledger", "stats", *located(folder)]) == 0
    out = capsys.readouterr().out
    assert "first: 2 paid;" in out
    assert "second: 1 paid, 1 reused;" in out
    assert "3 answers kept for reuse" in out
    assert server.books.answered == 3


def test_export_writes_rows_with_bodies(used: tuple[Path, Loopback], tmp_path: Path) -> None:
    target = tmp_path / "rows.jsonl"
    assert main(["ledger", "export", *located(used[0]), "--sweep", "second", "--to", str(target)]) == 0
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["reused", "paid"]
    assert [row["request"]["messages"][-1]["content"] for row in rows] == ["b", "c"]
    assert all(row["response"]["choices"] for row in rows)


def test_an_exported_ledger_replays_without_a_server(used: tuple[Path, Loopback], tmp_path: Path) -> None:
    folder, server = used
    target = tmp_path / "paper" / "ledger.sqlite"
    assert main(["ledger", "export", *located(folder), "--sweep", "second", "--to", str(target)]) == 0
    with closing(LMRuntime(sqlite_url(target), {"m": model(server)}, replay=True)) as made:
        assert made.lm(scope(sweep="second"))("b")
        assert made.lm(scope(sweep="second"))("c")
        with pytest.raises(Exception, match="not in the ledger"):
            made.lm(scope(sweep="second"))("a")
        with pytest.raises(ReplayMiss):
            made.check_stop()
    assert server.books.requests == 3


def test_a_copy_to_give_away_holds_no_key_and_still_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    target = tmp_path / "paper" / "ledger.sqlite"
    with Loopback() as server, runtime(tmp_path, server) as made:
        made.lm(scope())("is zebra-crossing-77 a key?")
    assert main(["ledger", "export", "--out", str(tmp_path), "--to", str(target)]) == 0
    monkeypatch.delenv("LAB_API_KEY")
    assert main(["ledger", "export", "--ledger", str(target), "--to", str(tmp_path / "rows.jsonl")]) == 0
    assert "is [redacted] a key?" in (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
    with closing(LMRuntime(sqlite_url(target), {"m": model(server)}, replay=True)) as made:
        assert made.lm(scope())("is zebra-crossing-77 a key?")


def test_rows_are_exported_into_a_folder_that_is_made(used: tuple[Path, Loopback], tmp_path: Path) -> None:
    target = tmp_path / "new" / "rows.jsonl"
    assert main(["ledger", "export", *located(used[0]), "--to", str(target)]) == 0
    assert len(target.read_text(encoding="utf-8").splitlines()) == 4


def test_prune_counts_first_and_keeps_the_account(
    used: tuple[Path, Loopback], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = used
    before = sums(folder)
    assert main(["ledger", "prune", *located(folder), "--sweep", "second"]) == 0
    assert "would drop 1 stored answers" in capsys.readouterr().out
    assert main(["ledger", "prune", *located(folder), "--sweep", "second", "--yes"]) == 0
    assert sums(folder) == before
    assert main(["ledger", "stats", *located(folder)]) == 0
    # "b" is also the first sweep's: it stays.
    assert "2 answers kept for reuse" in capsys.readouterr().out
    assert main(["ledger", "prune", *located(folder), "--older-than", "0", "--yes"]) == 0
    assert main(["ledger", "stats", *located(folder)]) == 0
    assert "0 answers kept" in capsys.readouterr().out


@pytest.mark.usefixtures("each_ledger")
def test_nothing_is_pruned_while_a_sweep_is_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also between two of its calls: what it was answered it counts on."""
    pruning = ["ledger", "prune", *located(tmp_path), "--older-than", "0"]
    with Loopback() as server:
        with runtime(tmp_path, server) as made:
            made.lm(scope())("a")
            assert main(pruning) == 0
            assert "would drop 1 stored answers" in capsys.readouterr().out
            assert main([*pruning, "--yes"]) == 2
            assert f"at work on this ledger (process {os.getpid()} on" in capsys.readouterr().err
            made.lm(scope())("a")
            assert server.books.requests == 1
        assert main([*pruning, "--yes"]) == 0
    assert "dropped 1 stored answers" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("each_ledger")
def test_a_sweep_that_was_killed_keeps_nobody_from_pruning(tmp_path: Path) -> None:
    with Loopback(latency_s=60) as server:
        worker = Worker(lm.ledger_url(tmp_path), server, questions=range(3))
        worker.wait_until_ready()
        worker.go()
        while server.books.requests < 3:
            time.sleep(0.01)
        worker.kill()
        assert main(["ledger", "prune", *located(tmp_path), "--older-than", "0", "--yes"]) == 0
    # The account says what may have been billed.
    assert sums(tmp_path).outcomes == {"lost": 3}
    assert sums(tmp_path).at_risk_usd > 0


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "stats", "--out", str(tmp_path)]) == 2
    assert "no ledger there" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("each_ledger")
def test_a_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    from sqlalchemy import text

    from seedbed.errors import UserError

    engine = open_database(lm.ledger_url(tmp_path))
    with engine.begin() as connection:
        connection.execute(text("UPDATE info SET value = '99'"))
    engine.dispose()
    with pytest.raises(UserError, match="schema version 99"):
        open_database(lm.ledger_url(tmp_path))


def test_a_sweep_whose_first_call_is_still_in_flight_has_nothing_else(tmp_path: Path) -> None:
    async def begin(ledger: Ledger) -> None:
        await ledger.begin(Begin(scope(), "a", 1, None, b"{}", 0.5, ()))

    ledger = Ledger(lm.ledger_url(tmp_path), list_price=lambda _model, _usage: None)
    try:
        asyncio.run(begin(ledger))
        (row,) = stats(ledger.engine)
    finally:
        ledger.close()
    assert [row[name] for name in ("paid", "reused", "failed", "lost", "in_flight")] == [0, 0, 0, 0, 1]
    assert (row["tokens_in"], row["tokens_out"], row["unpriced"]) == (0, 0, 0)
    assert (row["spent_usd"], row["at_risk_usd"]) == (None, 0.0)
