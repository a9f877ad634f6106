from __future__ import annotations

import asyncio
import time
from collections import Counter

import dspy
import pytest
from pydantic import ValidationError

from seedbed.errors import ProviderError
from seedbed.lm.nominal_tokens import count_tokens
from seedbed.lm.types import Attempt, JsonDict
from seedbed.offline import ErrorRates, OfflineOptions, OfflineProvider

BODY: JsonDict = {"messages": [{"role": "user", "content": "Say something about the sea."}]}


def outcome(errors: ErrorRates, key: str = "k", number: int = 1) -> str:
    provider = OfflineProvider("offline/test", OfflineOptions(errors=errors))
    try:
        asyncio.run(provider.chat(BODY, Attempt(key, None, 0, number, 5.0)))
    except ProviderError as error:
        return error.kind
    return "ok"


def call(timeout_s: float = 5.0, body: JsonDict = BODY, **options: object) -> JsonDict:
    provider = OfflineProvider("offline/test", OfflineOptions.model_validate(options))
    return asyncio.run(provider.chat(body, Attempt("k", None, 0, 1, timeout_s)))


@pytest.mark.slow
def test_faults_come_at_their_rates() -> None:
    errors = ErrorRates(rate_limit=0.3, server=0.2, timeout=0.1)
    seen = Counter(outcome(errors, key=f"key {i}") for i in range(600))
    assert {kind: pytest.approx(n / 600, abs=0.06) for kind, n in seen.items()} == {
        "rate_limit": 0.3,
        "server": 0.2,
        "timeout": 0.1,
        "ok": 0.4,
    }


def test_a_fault_depends_on_key_and_attempt_alone() -> None:
    errors = ErrorRates(server=0.5)
    assert [outcome(errors, number=n) for n in range(20)] == [outcome(errors, number=n) for n in range(20)]


def test_a_retry_can_succeed() -> None:
    errors = ErrorRates(server=0.5)
    first_failed = [f"key {i}" for i in range(40) if outcome(errors, f"key {i}") == "server"]
    assert {outcome(errors, key, number=2) for key in first_failed} == {"ok", "server"}


def test_dspy_gets_its_answer_through_retries(connect) -> None:
    engine = connect(retries=6, errors=ErrorRates(rate_limit=0.5))
    for i in range(6):
        assert dspy.Predict("question -> answer")(question=f"Who was number {i}?").answer == "I don't know."
    assert len(engine.bodies) > 6


def test_a_rate_limit_says_when_to_come_back() -> None:
    with pytest.raises(ProviderError) as caught:
        call(errors={"rate_limit": 1.0})
    assert (caught.value.status, caught.value.retryable) == (429, True)
    assert caught.value.retry_after is not None


def test_a_timeout_fault_does_not_outlast_the_timeout() -> None:
    started = time.perf_counter()
    with pytest.raises(ProviderError, match=r"0\.05 s"):
        call(timeout_s=0.05, latency_ms=1000, errors={"timeout": 1.0})
    assert 0.04 < time.perf_counter() - started < 0.5


def test_latency_beyond_the_timeout_is_a_timeout() -> None:
    with pytest.raises(ProviderError) as caught:
        call(timeout_s=0.01, latency_ms=100)
    assert caught.value.kind == "timeout"


def test_latency_is_waited_for() -> None:
    started = time.perf_counter()
    call(latency_ms=60)
    assert time.perf_counter() - started >= 0.05


@pytest.mark.parametrize("adapter", [dspy.ChatAdapter(use_json_adapter_fallback=False), dspy.JSONAdapter()])
def test_a_malformed_reply_cannot_be_parsed(connect, adapter: dspy.Adapter) -> None:
    connect(errors=ErrorRates(malformed=1.0))
    with dspy.context(adapter=adapter), pytest.raises(dspy.utils.exceptions.AdapterParseError):
        dspy.Predict("question -> answer, score: float")(question="Who?")


def test_a_malformed_reply_is_billed() -> None:
    assert call(errors={"malformed": 1.0})["usage"]["completion_tokens"] > 0


def test_usage_can_be_missing() -> None:
    assert "usage" not in call(errors={"no_usage": 1.0})


def test_usage_counts_what_was_sent_and_said() -> None:
    completion = call()
    text = completion["choices"][0]["message"]["content"]
    usage = completion["usage"]
    assert usage["completion_tokens"] == count_tokens(text)
    assert usage["prompt_tokens"] >= count_tokens("Say something about the sea.")
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_max_tokens_cuts_the_reply() -> None:
    completion = call(body={**BODY, "max_tokens": 3})
    assert completion["choices"][0]["finish_reason"] == "length"
    assert completion["usage"]["completion_tokens"] <= 3


def test_several_choices_come_in_one_response() -> None:
    assert [choice["index"] for choice in call(body={**BODY, "n": 3})["choices"]] == [0, 1, 2]


def test_rates_that_leave_no_room_are_refused() -> None:
    with pytest.raises(ValidationError, match="at most 1"):
        ErrorRates(rate_limit=0.6, server=0.6)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError, match="temper"):
        OfflineOptions.model_validate({"temper": 1})
