"""Whatever an endpoint replies, the attempt ends in the ledger with what it cost, and a cap holds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.ledger import Cap
from seedbed.lm.limits import Limiter
from seedbed.lm.prices import WorstCase, price_of
from seedbed.lm.request_size import request_size
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import Limits, ModelConfig
from tests.support.lm import PRICE, ledger_url, scope, sums
from tests.support.replies import endpoint

CHOICE = {"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
USAGE = {"prompt_tokens": 100, "completion_tokens": 50}


def ask(folder: Path, url: str, caps: tuple[Cap, ...] = (), **changes: Any) -> Any:
    settings = {"model": "openai/odd", "api_base": url, "price": PRICE, "retries": 0, "backoff_s": 0.0, **changes}
    made = LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate(settings)})
    try:
        return made.lm(scope(), caps)("hello")
    finally:
        made.close()


def test_a_reply_without_choices_that_tells_its_tokens_is_booked_as_spent(tmp_path: Path) -> None:
    with endpoint({"choices": [], "usage": USAGE}) as (url, _), pytest.raises(Exception, match="no choices"):
        ask(tmp_path, url)
    found = sums(tmp_path)
    assert found.outcomes == {"failed": 1}
    assert found.spent_usd == pytest.approx(100 * 2e-6 + 50 * 8e-6)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 18446744073709551615, "completion_tokens": 5},
        {"prompt_tokens": 5, "completion_tokens": 10**30},
        {"prompt_tokens": -1, "completion_tokens": 1.5},
        {"prompt_tokens": True, "completion_tokens": None},
        "much",
    ],
)
def test_a_usage_that_cannot_be_meant_is_estimated(tmp_path: Path, usage: Any) -> None:
    with endpoint({"choices": [CHOICE], "usage": usage}) as (url, _):
        assert ask(tmp_path, url, (Cap("sweep:s", 1.0),)) == ["yes"]
    found = sums(tmp_path)
    assert found.outcomes == {"paid": 1}
    assert 0 < found.spent_usd < 0.01


@pytest.mark.parametrize(
    "reply", [[], None, 5, {}, {"choices": "x"}, {"choices": [5]}, {"choices": [None]}, {"choices": {"a": 1}}, b"\xff"]
)
def test_any_reply_ends_in_a_booked_outcome(tmp_path: Path, reply: Any) -> None:
    with endpoint(reply) as (url, _), pytest.raises(Exception, match="response"):
        ask(tmp_path, url, (Cap("sweep:s", 1.0),))
    assert sum(sums(tmp_path).outcomes.values()) == 1
    assert None not in sums(tmp_path).outcomes


def test_a_reply_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    reply = b'{"choices": [' + b" " * 3_000_000 + b"]}"
    with endpoint(reply) as (url, _), pytest.raises(Exception, match="longer than 1 MB; raise max_reply_mb"):
        ask(tmp_path, url, max_reply_mb=1)
    assert sums(tmp_path).outcomes == {"failed": 1}


def test_under_a_cap_a_model_nobody_knows_is_sent_the_limit_that_was_reserved(tmp_path: Path) -> None:
    with endpoint({"choices": [CHOICE], "usage": USAGE}) as (url, asked):
        ask(tmp_path, url, (Cap("sweep:s", 1.0),))
        ask(tmp_path / "free", url)
    assert asked[0]["max_tokens"] == 4096
    assert "max_tokens" not in asked[1]


def test_every_answer_that_is_asked_for_is_reserved() -> None:
    model = ModelConfig.model_validate(
        {"model": "openai/x", "max_tokens": 100, "price": {"input": 0.0, "output": 1e6}}
    )  # fmt: skip
    price = price_of(model)
    assert price is not None
    body = {"messages": [], "n": 3}
    assert WorstCase.of(model, price).usd(body, request_size(body)) == 300.0


def test_n_in_extra_counts_for_the_cap(tmp_path: Path) -> None:
    with endpoint({"choices": [CHOICE], "usage": USAGE}) as (url, asked), suppress(Exception):
        # One answer of 1000 tokens fits, three do not.
        ask(tmp_path, url, (Cap("sweep:s", 0.02),), max_tokens=1000, extra={"n": 3})
    assert asked == []


@pytest.mark.parametrize("length", ["100000", 1e5, -1, 0])
def test_a_length_in_extra_counts_for_the_cap_in_whatever_form(tmp_path: Path, length: Any) -> None:
    def reply(body: dict[str, Any]) -> dict[str, Any]:
        # Like servers that take such forms for numbers, and -1 for no limit.
        allowed = int(float(body["max_tokens"]))
        return {
            "choices": [CHOICE],
            "usage": {"prompt_tokens": 1, "completion_tokens": allowed if allowed > 0 else 10**5},
        }

    cap = 0.05
    with endpoint(reply) as (url, _), suppress(Exception):
        ask(tmp_path, url, (Cap("sweep:s", cap),), extra={"max_tokens": length})
    assert sums(tmp_path).spent_usd <= cap


def test_only_the_first_of_many_refusals_lengthens_the_pause() -> None:
    limiter = Limiter(Limits())
    assert limiter.rate_limited(600, 0.0) == pytest.approx(600, abs=1)
    assert limiter.rate_limited(600, 0.0) < 1


def test_a_long_wait_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with endpoint({"error": "slower"}, 429, **{"retry-after": "600"}) as (url, _), suppress(Exception):
        ask(tmp_path, url)
    assert "openai/odd takes no calls for 600 s (429, Retry-After)" in caplog.text
