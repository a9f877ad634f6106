"""What is reused and what is asked anew: seeds, repeats, rollouts, draws, --fresh."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.ledger.reads import phase_usage, start_fresh
from tests.support.lm import assert_books_agree, budget_row, caps, runtime, scope, sums
from tests.support.loopback import Loopback


def _paid(tmp_path: Path, temperature: float, asks: list[dict[str, Any]]) -> int:
    with Loopback() as server, runtime(tmp_path, server, temperature=temperature) as made:
        for ask in asks:
            rollout, repeat = ask.pop("rollout", None), ask.pop("repeat", 0)
            token = CURRENT_SAMPLE.set(("s", repeat))
            made.lm(scope(**ask))("hello", **({"rollout_id": rollout} if rollout is not None else {}))
            CURRENT_SAMPLE.reset(token)
        assert_books_agree(tmp_path, server)
        return server.books.requests


@pytest.mark.usefixtures("each_ledger")
@pytest.mark.parametrize(
    ("asks", "when_random", "at_zero"),
    [
        ([{}, {}], 1, 1),
        ([{"cell": "a"}, {"cell": "b", "sweep": "t", "role": "judge", "phase": "score"}], 1, 1),
        ([{"seed": 0}, {"seed": 1}], 2, 1),
        ([{"rollout": 1}, {"rollout": 2}, {"rollout": 1}], 2, 1),
        ([{"repeat": 0}, {"repeat": 1}, {"repeat": 1}], 2, 2),
        ([{"draws": "Baseline"}, {"draws": "GEPA"}, {"draws": "Baseline"}], 2, 1),
    ],
    ids=["same", "other cell", "seeds", "rollouts", "repeats", "draws"],
)
@pytest.mark.filterwarnings("ignore:rollout_id has no effect")
def test_reuse_follows_the_key(tmp_path: Path, asks: list[dict[str, Any]], when_random: int, at_zero: int) -> None:
    assert _paid(tmp_path / "random", 0.7, [dict(ask) for ask in asks]) == when_random
    assert _paid(tmp_path / "zero", 0.0, [dict(ask) for ask in asks]) == at_zero


@pytest.mark.usefixtures("each_ledger")
def test_fresh_uses_nothing_made_before(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        made.lm(scope())("hello")
        made.lm(scope(generation=1))("hello")
        made.lm(scope(generation=1))("hello")
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": 2, "reused": 1}


def test_a_clock_that_is_set_back_after_a_fresh_start_makes_nobody_pay_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    with Loopback() as server:
        for jump_s in (0.0, -7200.0, 86400.0, -86400.0):
            monkeypatch.setattr(time, "time", lambda jump_s=jump_s: real() + jump_s)
            with runtime(tmp_path, server) as made:
                if jump_s == 0.0:
                    made.lm(scope())("hello")
                    generation = start_fresh(made.ledger.engine, "s")
                made.lm(scope(generation=generation), caps(1.0))("hello")
            # What the cap counts is what was spent since.
            assert budget_row(tmp_path, "sweep:s")[0] == pytest.approx(sums(tmp_path).spent_usd / 2)
        assert server.books.requests == 2


@pytest.mark.usefixtures("each_ledger")
def test_a_resumed_phase_has_the_tokens_and_list_cost_of_an_uninterrupted_one(tmp_path: Path) -> None:
    questions = [f"{n}?" for n in range(10)]
    with Loopback() as server, runtime(tmp_path / "one", server) as made:
        for question in questions:
            made.lm(scope())(question)
        whole = phase_usage(made.ledger.engine, "c", "generate", "e1")
    with Loopback() as server:
        with runtime(tmp_path / "two", server) as made:
            for question in questions[:6]:
                made.lm(scope(execution="first"))(question)
        with runtime(tmp_path / "two", server) as made:
            # A request made twice in one phase is one request of a fresh run too.
            for question in [*questions, *questions[:3]]:
                made.lm(scope(execution="second"))(question)
            resumed = phase_usage(made.ledger.engine, "c", "generate", "second")
    assert (resumed.calls, resumed.tokens_in, resumed.tokens_out) == (whole.calls, whole.tokens_in, whole.tokens_out)
    assert resumed.list_usd == pytest.approx(whole.list_usd, abs=1e-12)
    assert resumed.spent_usd == pytest.approx(whole.spent_usd, abs=1e-12)
    assert resumed.outcomes == {"paid": 10, "reused": 9, "failed": 0, "lost": 0}


def test_reasoning_models_get_their_own_parameters(tmp_path: Path) -> None:
    with (
        Loopback() as server,
        runtime(
            tmp_path, server, model="openai/gpt-5-mini", temperature=0.0, extra={"reasoning_effort": "low"}
        ) as made,
    ):
        lm = made.lm(scope())
        assert lm("hello")[0]
        import zlib

        import orjson
        from sqlalchemy import text

        with made.ledger.engine.begin() as connection:
            body = orjson.loads(zlib.decompress(connection.scalar(text("SELECT body FROM requests"))))
    assert "temperature" not in body
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 200
    assert body["reasoning_effort"] == "low"


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_the_short_way_and_dspys_own_share_answers(tmp_path: Path, temperature: float) -> None:
    import dspy

    with Loopback() as server, runtime(tmp_path, server, temperature=temperature, top_p=0.9) as made:
        program = dspy.ChainOfThought("question -> answer")
        answers = []
        for short in (True, False):
            with dspy.context(lm=made.lm(scope()), disable_history=short):
                answers.append(made.run(program.acall(question="Is 7 even?")).toDict())
                answers.append(program(question="Is 7 even?").toDict())
        assert assert_books_agree(tmp_path, server).outcomes == {"paid": 1, "reused": 3}
    assert all(answer == answers[0] for answer in answers)
