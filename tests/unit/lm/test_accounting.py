"""The ledger's sums are the endpoint's own, whatever happens on the way."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.lm.runtime import LMRuntime
from tests.support.lm import assert_books_agree, dollars, runtime, scope, sums
from tests.support.loopback import Loopback

pytestmark = pytest.mark.slow

FAULTS = {"rate_limit": 0.05, "server": 0.05, "reset": 0.03, "malformed": 0.03, "no_usage": 0.02, "gateway": 0.02}
PATIENT_S = 600.0
"""No call may end by the caller's clock where each ending is counted, however busy the machine is."""


async def _ask_all(made: LMRuntime, questions: list[str], **changes: Any) -> list[Any]:
    lm = made.lm(scope(**changes))
    program = dspy.ChainOfThought("question -> answer")
    with dspy.context(lm=lm, disable_history=True):
        return await asyncio.gather(*(program.acall(question=q) for q in questions))


def _questions(n: int, start: int = 0) -> list[str]:
    return [f"Is {i} even?" for i in range(start, start + n)]


@pytest.mark.usefixtures("each_ledger")
def test_cold_half_and_fully_reused_runs_agree_with_the_server(tmp_path: Path) -> None:
    with Loopback(cached_share=0.25) as server, runtime(tmp_path, server) as made:
        made.run(_ask_all(made, _questions(60)))
        cold = assert_books_agree(tmp_path, server)
        assert cold.outcomes == {"paid": 60}

        made.run(_ask_all(made, _questions(60, start=30), execution="e2"))
        half = assert_books_agree(tmp_path, server)
        assert half.outcomes == {"paid": 90, "reused": 30}

        made.run(_ask_all(made, _questions(90), execution="e3"))
        full = assert_books_agree(tmp_path, server)
        assert full.outcomes == {"paid": 90, "reused": 120}
        assert full.spent_usd == half.spent_usd
        assert server.books.requests == 90


@pytest.mark.usefixtures("each_ledger")
def test_a_fifth_of_faults_is_accounted_for(tmp_path: Path) -> None:
    with Loopback(faults=FAULTS, seed=3) as server, runtime(tmp_path, server, timeout_s=PATIENT_S) as made:
        answers = made.run(_ask_all(made, _questions(200)))
        found = assert_books_agree(tmp_path, server)
    assert all(answer.answer in ("yes", "no") for answer in answers)
    faults = server.books.faults
    assert all(faults[name] for name in FAULTS), faults
    broken = sum(count for name, count in faults.items() if name != "no_usage")
    assert found.outcomes == {"paid": 200, "failed": broken}
    assert found.estimated == faults["no_usage"]
    assert server.books.requests == 200 + broken
    # Work whose cost nobody could read is covered by the worst case on record.
    assert found.at_risk_usd >= dollars(server.books.unseen_in, server.books.unseen_out) > 0


def test_a_request_that_got_no_answer_in_time_is_at_risk_and_asked_again(tmp_path: Path) -> None:
    with Loopback(faults={"timeout": 1.0}, max_faults=1) as server, runtime(tmp_path, server, timeout_s=3.0) as made:
        assert made.run(made.lm(scope()).acall("hello"))[0]
        found = assert_books_agree(tmp_path, server)
    assert found.outcomes == {"paid": 1, "failed": 1}
    assert found.at_risk_usd >= dollars(server.books.unseen_in, server.books.unseen_out) > 0


@pytest.mark.usefixtures("each_ledger")
def test_n_above_one_is_n_requests(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        program = dspy.Predict("question -> answer", n=3)
        with dspy.context(lm=made.lm(scope()), disable_history=True):
            first = made.run(program.acall(question="Is 7 even?"))
            again = made.run(program.acall(question="Is 7 even?"))
        found = assert_books_agree(tmp_path, server)
    assert len(first.completions) == len(again.completions) == 3
    assert found.outcomes == {"paid": 3, "reused": 3}
    assert server.books.requests == 3


@pytest.mark.usefixtures("each_ledger")
def test_eight_threads_on_the_sync_path_agree(tmp_path: Path) -> None:
    with Loopback(faults=FAULTS, seed=1) as server, runtime(tmp_path, server, timeout_s=PATIENT_S) as made:
        lm = made.lm(scope())
        program = dspy.Predict("question -> answer")

        def ask(question: str) -> str:
            with dspy.context(lm=lm, disable_history=True):
                return program(question=question).answer

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, _questions(120) + _questions(40)))
        found = assert_books_agree(tmp_path, server)
    assert answers[:40] == answers[120:]
    assert found.outcomes["paid"] == 120
    assert found.outcomes["reused"] == 40


@pytest.mark.usefixtures("each_ledger")
def test_equal_requests_at_once_are_sent_once(tmp_path: Path) -> None:
    with Loopback(latency_s=0.05) as server, runtime(tmp_path, server) as made:
        made.run(_ask_all(made, ["Is 7 even?"] * 50))
        found = assert_books_agree(tmp_path, server)
    assert server.books.requests == 1
    assert found.outcomes == {"paid": 1, "reused": 49}


@pytest.mark.usefixtures("each_ledger")
def test_equal_requests_at_once_are_sent_once_without_bodies_too(tmp_path: Path) -> None:
    with Loopback(latency_s=0.05) as server, runtime(tmp_path, server, store_bodies=False) as made:
        made.run(_ask_all(made, ["Is 7 even?"] * 50))
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": 1, "reused": 49}


def test_without_bodies_nothing_is_kept_and_a_later_run_pays_again(tmp_path: Path) -> None:
    with Loopback() as server:
        for _ in range(2):
            with runtime(tmp_path, server, store_bodies=False) as made:
                made.run(_ask_all(made, _questions(5)))
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": 10}
    content = (tmp_path / "ledger.sqlite").read_bytes()
    assert b"Is 3 even" not in content
    assert sums(tmp_path, "length(key) = 64").calls == 10


@pytest.mark.usefixtures("each_ledger")
def test_empty_answers_are_paid_but_never_kept(tmp_path: Path) -> None:
    with Loopback(faults={"empty": 1.0}, max_faults=1) as server, runtime(tmp_path, server) as made:
        lm = made.lm(scope())
        assert not made.run(lm.acall("hello"))[0]
        second = made.run(lm.acall("hello"))
        assert_books_agree(tmp_path, server)
    assert second[0]
    assert server.books.requests == 2


@pytest.mark.usefixtures("each_ledger")
def test_a_useless_answer_that_tells_its_tokens_is_paid_and_asked_again(tmp_path: Path) -> None:
    with Loopback(faults={"bad_shape": 1.0}, max_faults=1) as server, runtime(tmp_path, server) as made:
        assert made.run(made.lm(scope()).acall("hello"))[0]
        found = assert_books_agree(tmp_path, server)
    assert found.outcomes == {"paid": 1, "failed": 1}
    assert found.at_risk_usd == 0.0


@pytest.mark.usefixtures("each_ledger")
def test_an_unknown_price_leaves_costs_empty_and_warns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from seedbed.lm.ledger.reads import phase_usage

    with Loopback() as server, runtime(tmp_path, server, price=None) as made:
        made.run(_ask_all(made, _questions(3)))
        usage = phase_usage(made.ledger.engine, "c", "generate", "e1")
    assert usage.calls == 3
    assert usage.tokens_in == server.books.tokens_in
    assert usage.list_usd is None
    assert usage.spent_usd is None
    assert caplog.text.count("the price of model 'm' is unknown") == 1


def test_more_calls_in_one_phase_than_dspys_history_holds(tmp_path: Path) -> None:
    """Past its limit of 10,000, through the real runtime but without DSPy's formatting."""
    from dspy.lm15 import Message, Request

    from seedbed.lm import codec
    from seedbed.lm.chat import Call, Chat

    total, width = 12_000, 256
    with Loopback() as server, runtime(tmp_path, server, limits={"concurrency": width}) as made:
        binding = made.lm(scope()).engine._binding  # type: ignore[attr-defined]

        async def all_of_it() -> None:
            numbers = iter(range(total))

            async def worker() -> None:
                for number in numbers:
                    request = Request(model="openai/loop", messages=(Message.user(f"{number}?"),))
                    body = codec.encode(request, binding.model)
                    await Chat(made, binding).attempt(body, codec.decode, Call(number=1), (None, 0))

            await asyncio.gather(*(worker() for _ in range(width)))

        made.run(all_of_it())
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": total}
