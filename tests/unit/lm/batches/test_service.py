"""Calls answered by batches: on record at batch price, each asked once, however the batch and its rows end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.batch_views import view_gathering
from seedbed.lm.ledger.batches import lease, open_batches
from seedbed.lm.ledger.database import open_database
from tests.support.batch_loopback import BatchLoopback
from tests.support.lm import PRICE, caps, dollars, ledger_url, runtime, scope, sums
from tests.unit.lm.batches.conftest import ask, batched, in_full, start


def test_answers_are_those_of_normal_calls_at_half_their_price(
    tmp_path: Path, protocol: dict[str, Any], each_ledger: str
) -> None:
    with BatchLoopback() as server, runtime(tmp_path / "online", server, **protocol) as made:
        online = ask(made, 30)
    with BatchLoopback() as server, runtime(tmp_path / "batch", server, **in_full(10, **protocol)) as made:
        by_batch = ask(made, 30)
        assert server.online == 0
        assert [len(one.rows) for one in server.made.values()] == [10, 10, 10]
        assert server.most_polls_at_once == 1
    assert by_batch == online
    found, books = sums(tmp_path / "batch"), server.books
    assert found.outcomes == {"paid": 30}
    assert (found.tokens_in, found.tokens_out) == (books.tokens_in, books.tokens_out)
    assert found.spent_usd == pytest.approx(dollars(books.tokens_in, books.tokens_out) / 2, abs=1e-12)
    assert sums(tmp_path / "online").spent_usd == pytest.approx(2 * found.spent_usd)


def test_rows_that_fail_or_expire_go_into_the_next_batch(tmp_path: Path, protocol: dict[str, Any]) -> None:
    fail = {"server": 0.3, "expired": 0.3}
    with BatchLoopback(fail=fail) as server, runtime(tmp_path, server, **batched(**protocol)) as made:
        answers = ask(made, 20)
        assert all(isinstance(answer, list) for answer in answers)
        assert len(server.made) > 2
    found = sums(tmp_path)
    assert found.outcomes["paid"] == 20 == server.books.answered
    assert found.outcomes["failed"] > 5
    assert found.at_risk_usd == 0.0
    assert found.spent_usd == pytest.approx(dollars(server.books.tokens_in, server.books.tokens_out) / 2)


def test_a_row_that_is_refused_for_good_fails_alone(tmp_path: Path, protocol: dict[str, Any]) -> None:
    with BatchLoopback(fail={"invalid": 0.4}) as server, runtime(tmp_path, server, **in_full(10, **protocol)) as made:
        answers = ask(made, 10)
    refused = [answer for answer in answers if isinstance(answer, Exception)]
    assert 0 < len(refused) < 10
    assert len(server.made) == 1
    assert sums(tmp_path).outcomes == {"paid": 10 - len(refused), "failed": len(refused)}


def test_what_failed_falls_back_to_normal_calls_where_the_config_says_so(tmp_path: Path) -> None:
    settings = in_full(10, batch={"fallback": "online"})
    with BatchLoopback(fail={"expired": 0.5}) as server, runtime(tmp_path, server, **settings) as made:
        answers = ask(made, 10)
    assert all(isinstance(answer, list) for answer in answers)
    assert len(server.made) == 1
    expired = sums(tmp_path).outcomes["failed"]
    assert server.online == expired > 0
    # Billed as what they were; a fresh run would pay for a batch.
    online = sums(tmp_path, "number > 1")
    assert online.spent_usd == pytest.approx(dollars(online.tokens_in, online.tokens_out))


def test_the_cap_holds_at_batch_price_and_what_is_in_a_batch_is_waited_for(tmp_path: Path) -> None:
    from seedbed.errors import BudgetReached

    with BatchLoopback() as server, runtime(tmp_path, server, **batched()) as made:
        one = 200 * PRICE["output"] / 2e6
        answers = ask(made, 8, caps=caps(1.15 * one))
        stopped = [answer for answer in answers if isinstance(answer, BaseException)]
        assert isinstance(made.stop_reason, BudgetReached)
    found = sums(tmp_path)
    assert 0 < len(stopped) < 8
    assert found.outcomes["paid"] == 8 - len(stopped)
    assert found.spent_usd + found.at_risk_usd <= 1.15 * one
    assert found.in_flight == 0


def test_equal_requests_share_a_row_and_stored_answers_are_reused(tmp_path: Path) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server, **batched()) as made:
        lm = made.lm(scope())

        async def twice() -> list[Any]:
            return await asyncio.gather(*(lm.acall("same") for _ in range(5)))

        assert len({str(answer) for answer in made.run(twice())}) == 1
        assert [len(one.rows) for one in server.made.values()] == [1]
        made.lm(scope(execution="e2"))("same")
    assert sums(tmp_path).outcomes == {"paid": 1, "reused": 5}


def test_optimizers_ask_at_the_normal_price_unless_told_otherwise(tmp_path: Path) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server, **batched()) as made:
        made.lm(scope(phase="optimise"))("a")
        assert (server.online, len(server.made)) == (1, 0)
    with BatchLoopback() as server, runtime(tmp_path / "b", server, **batched(batch={"optimise": "batch"})) as made:
        made.lm(scope(phase="optimise"))("a")
        assert (server.online, len(server.made)) == (0, 1)


def test_what_waits_for_a_batch_is_counted_with_its_age(tmp_path: Path) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server, **batched(batch={"age_s": 3600.0})) as made:
        start(made, 3)
        while (waiting := view_gathering(made.ledger.engine, "s")) is None or waiting.requests < 3:
            time.sleep(0.01)
    assert 0 <= waiting.age_s < 3600


def test_a_batch_is_one_living_processs_work_until_it_lets_go(tmp_path: Path) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server) as first, runtime(tmp_path, server) as second:
        engine, owners = first.ledger.engine, [made.ledger.owner for made in (first, second)]
        row = {"id": "b", "lane": "l", "spec": "{}", "state": "packed", "requests": 1, "done": 0, "failed": 0}
        with engine.begin() as connection:
            connection.execute(schema.batches.insert().values(packed_at=1.0, **row))
        assert lease(engine, owners[0], "b") is not None
        assert lease(engine, owners[0], "b") is not None, "who has it keeps it"
        assert lease(engine, owners[1], "b") is None
    with BatchLoopback() as server, runtime(tmp_path, server) as third:
        assert lease(third.ledger.engine, third.ledger.owner, "b") is not None


def test_a_process_that_leaves_gives_its_batches_back(tmp_path: Path) -> None:
    with BatchLoopback() as server:
        server.hold = True
        with runtime(tmp_path, server, **batched()) as made:
            start(made, 3)
            while not server.made:
                time.sleep(0.01)
        engine = open_database(ledger_url(tmp_path))
        assert [(batch.owner, batch.requests) for batch in open_batches(engine)] == [(None, 3)]
        engine.dispose()
