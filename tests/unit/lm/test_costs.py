"""What a call costs and reserves, seen where a user sees it: in the ledger, after a real request to an endpoint."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from seedbed.lm.ledger import Begin, Cap, End, Granted, Ledger
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import history, phase_usage
from seedbed.lm.request_size import most_output
from seedbed.lm.runtime import LMRuntime
from seedbed.lm.types import Usage
from seedbed.sweep.config import ModelConfig
from tests.support.lm import ledger_url, scope, sums
from tests.unit.lm.test_odd_replies import CHOICE, endpoint

CAP = (Cap("sweep:s", 1.0),)


def _ask(folder: Path, url: str, times: int = 1, price: dict[str, float] | None = None, **asked: Any) -> None:
    settings = {"model": "openai/odd", "api_base": url, "retries": 0, "max_tokens": 200, "temperature": 0.0}
    model = ModelConfig.model_validate({**settings, "price": price or {"input": 2.0, "output": 8.0}})
    made = LMRuntime(ledger_url(folder), {"m": model})
    try:
        for _ in range(times):
            made.lm(scope(), CAP)("hello", **asked)
    finally:
        made.close()


def _reserved(folder: Path) -> float:
    engine = open_database(ledger_url(folder))
    with engine.connect() as connection:
        (found,) = connection.execute(text("SELECT reserved_usd FROM attempts")).one()
    engine.dispose()
    return found


def _reply(cached: int, message: dict[str, Any] | None = None) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": cached}}
    return {
        "choices": [{**CHOICE, "message": {"role": "assistant", **(message or {"content": "yes"})}}],
        "usage": usage,
    }


@pytest.mark.parametrize(
    ("cached", "price", "dollars"),
    [
        (80, {"input": 2.0, "output": 8.0}, 100 * 2.0 + 50 * 8.0),
        (80, {"input": 2.0, "output": 8.0, "cached_input": 0.5}, 20 * 2.0 + 80 * 0.5 + 50 * 8.0),
        (100, {"input": 2.0, "output": 8.0, "cached_input": 0.0}, 50 * 8.0),
        (5000, {"input": 2.0, "output": 8.0, "cached_input": 0.5}, 100 * 0.5 + 50 * 8.0),
        (5000, {"input": 2.0, "output": 0.0, "cached_input": 0.0}, 0.0),
    ],
    ids=["no price for cached ones", "a price for them", "free", "more cached than sent", "never below nothing"],
)
def test_cached_tokens_cost_their_own_price_and_never_less_than_nothing(
    tmp_path: Path, cached: int, price: dict[str, float], dollars: float
) -> None:
    with endpoint(_reply(cached)) as (url, _):
        _ask(tmp_path, url, price=price)
    assert sums(tmp_path).spent_usd == pytest.approx(dollars / 1e6, abs=1e-12)


def test_the_length_that_a_request_asks_for_is_reserved_and_not_the_models(tmp_path: Path) -> None:
    with endpoint(_reply(0)) as (url, asked):
        _ask(tmp_path / "short", url, max_tokens=10)
        _ask(tmp_path / "long", url, max_tokens=5000)
    assert [body["max_tokens"] for body in asked] == [10, 5000]
    short, long = _reserved(tmp_path / "short"), _reserved(tmp_path / "long")
    assert 10 * 8e-6 < short < 100 * 8e-6
    assert long - short == pytest.approx(4990 * 8e-6)


def test_what_is_sent_beside_the_messages_is_reserved_too(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {f"field{i}": {"type": "string"} for i in range(300)}}
    form = {"type": "json_schema", "json_schema": {"name": "much", "schema": schema}}
    with endpoint(_reply(0)) as (url, asked):
        _ask(tmp_path / "plain", url)
        _ask(tmp_path / "form", url, response_format=form)
    assert "response_format" in asked[1]
    more = _reserved(tmp_path / "form") - _reserved(tmp_path / "plain")
    assert more > len(str(schema)) / 5 * 2e-6


def test_a_prediction_that_is_offered_is_reserved_as_output_in_every_answer() -> None:
    offered = {"type": "content", "content": "x" * 100}
    assert most_output({"max_tokens": 10}, 500) == 10
    assert most_output({}, 500) == 500
    assert most_output({"max_tokens": 10, "prediction": offered, "n": 2}, 500) >= 2 * (10 + 100)


@pytest.mark.parametrize(
    ("message", "requests"),
    [({"content": None, "refusal": "I cannot do that."}, 1), ({"content": ""}, 2)],
    ids=["a refusal", "an empty answer"],
)
def test_a_refusal_is_an_answer_that_is_kept_and_an_empty_reply_is_not(
    tmp_path: Path, message: dict[str, Any], requests: int
) -> None:
    with endpoint(_reply(0, message)) as (url, asked):
        for _ in range(2):
            with suppress(Exception):  # an empty reply is no answer to give
                _ask(tmp_path, url)
        assert len(asked) == requests


def test_an_execution_has_its_own_tokens_and_a_failed_attempt_no_answer_of_another(tmp_path: Path) -> None:
    """Two runs of a phase, the first with a failure before its answer: the account is that of the last."""

    async def call(ledger: Ledger, key: str, execution: str, outcome: Any) -> None:
        begin = Begin(scope(execution=execution), key, 1, None, b"{}", 1.0, ())
        granted = await ledger.begin(begin)
        if isinstance(granted, Granted):
            paid = outcome == "paid"
            usage, said = (Usage(100, 10), b'{"said": "yes"}') if paid else (None, None)
            dollars = 2.0 if paid else 0.0
            await ledger.end(End(granted.attempt_id, begin, outcome, usage, dollars, dollars, 0.0, 0.1, response=said))

    async def work(ledger: Ledger) -> None:
        await call(ledger, "a", "first", "failed")
        await call(ledger, "a", "first", "paid")
        await call(ledger, "b", "first", "paid")
        await call(ledger, "a", "last", "paid")

    ledger = Ledger(ledger_url(tmp_path), list_price=lambda _model, _usage: 2.0)
    try:
        asyncio.run(work(ledger))
        usage = phase_usage(ledger.engine, "c", "generate", "last")
        assert (usage.calls, usage.tokens_in, usage.tokens_out, usage.list_usd) == (1, 100, 10, 2.0)
        assert usage.spent_usd == 4.0
        rows = [(row["outcome"], row["response"]) for row in history(ledger.engine, "c", ["first"])]
    finally:
        ledger.close()
    said = {"said": "yes"}
    assert rows == [("failed", None), ("paid", said), ("paid", said)]
