"""What one call of DSPy is to the runtime: its key, its seed, its number, and what of it may be kept."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from seedbed.errors import ProviderError
from seedbed.lm import lm as lm_module
from seedbed.lm.attempts import Binding, Query
from seedbed.lm.chat import Call, Chat, is_random
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.ledger import Cap
from seedbed.lm.lm import CALL
from seedbed.lm.runtime import LMRuntime
from seedbed.lm.types import Attempt, JsonDict
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import ledger_url, scope

CAPS = (Cap("sweep:s", 1.0),)


class _Provider:
    """Answers with a text, fails as often as told before, and keeps what it was sent."""

    def __init__(self, failures: int = 0) -> None:
        self.bodies, self.attempts, self._failures = list[JsonDict](), list[Attempt](), failures

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        self.bodies.append(body)
        self.attempts.append(attempt)
        if len(self.attempts) <= self._failures:
            raise ProviderError("server", "down", status=500)
        message = {"role": "assistant", "content": "yes"}
        usage = {"prompt_tokens": 3, "completion_tokens": 1}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    async def aclose(self) -> None:
        return None


@contextmanager
def _runtime(folder: Path, failures: int = 0, **settings: Any) -> Iterator[tuple[LMRuntime, _Provider]]:
    known = {"model": "openai/x", "price": {"input": 1.0, "output": 1.0}, "backoff_s": 0.0, "send_seed": "on"}
    made = LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate({**known, **settings})})
    provider = _Provider(failures)
    made.keep("chat:m", lambda: provider)
    try:
        yield made, provider
    finally:
        made.close()


def _query(body: JsonDict, call: Call, sample: tuple[str | None, int], **more: Any) -> Query[Any]:
    """What is asked of a runtime, of which it takes no more than to keep a provider."""
    keeps: Any = SimpleNamespace(keep=lambda _name, _make: _Provider())
    model = ModelConfig.model_validate({"model": "openai/x", "send_seed": "on"})
    binding = Binding(scope(seed=7, draws="GEPA"), model, **more)
    return Chat(keeps, binding).query(body, lambda reply, _: reply, call, sample)


@pytest.mark.parametrize(("temperature", "random"), [(None, True), (0, False), (0.0, False), (0.01, True), (1, True)])
def test_only_a_temperature_of_0_has_one_answer(temperature: float | None, random: bool) -> None:
    assert is_random({} if temperature is None else {"temperature": temperature}) is random


def test_a_random_request_has_the_sweeps_seed_and_one_of_its_own() -> None:
    query = _query({"temperature": 1.0}, Call(rollout=3, candidate=2, number=4, pause_s=1.5), ("q1", 5))
    attempt = query.attempt
    assert (attempt.seed, attempt.rollout, attempt.repeat, attempt.number) == (7, 3, 7, 4)
    assert (query.sample, query.pause_s, query.kind.batches) == ("q1", 1.5, True)
    assert isinstance(query.body["seed"], int)


def test_a_request_without_chance_has_no_seed_and_no_rollout() -> None:
    query = _query({"temperature": 0.0}, Call(rollout=3, number=1), (None, 5))
    assert (query.attempt.seed, query.attempt.rollout, query.attempt.repeat) == (None, None, 5)
    assert query.body == {"temperature": 0.0}


def test_a_cap_brings_a_limit_for_what_is_reserved_and_leaves_the_key_as_it_is() -> None:
    plain, capped = (_query({"temperature": 0.0}, Call(number=1), (None, 0), caps=caps) for caps in ((), CAPS))
    assert plain.attempt.key == capped.attempt.key
    assert "max_completion_tokens" not in plain.body
    assert capped.body["max_completion_tokens"] > 0


def test_keys_tell_apart_candidates_and_repeats_at_any_temperature() -> None:
    for temperature in (0.0, 1.0):
        keys = {
            _query({"temperature": temperature}, Call(candidate=candidate), (None, repeat)).attempt.key
            for candidate in range(2)
            for repeat in range(2)
        }
        assert len(keys) == 4
    same = {_query({"temperature": 0.0}, Call(rollout=rollout), (None, 0)).attempt.key for rollout in range(2)}
    assert len(same) == 1


def test_an_answer_that_says_something_is_worth_keeping() -> None:
    keeping = _query({}, Call(), (None, 0)).kind.worth_keeping
    assert keeping({"choices": [{"message": {"content": "yes"}}]})
    assert not keeping({"choices": [{"message": {"content": ""}}]})


@pytest.mark.parametrize("way", ["sync", "fast", "async", "elsewhere"])
def test_the_tries_of_a_call_are_numbered_and_a_new_call_begins_anew(tmp_path: Path, way: str) -> None:
    with _runtime(tmp_path, failures=2, retries=2) as (made, provider):
        lm = made.lm(scope())

        async def ask(question: str) -> Any:
            with dspy.context(disable_history=way == "fast"):
                return await lm.acall(question)

        for question in ("Is 4 even?", "Is 5 even?"):
            if way == "sync":
                assert lm(question) == ["yes"]
            elif way == "elsewhere":
                assert asyncio.run(ask(question)) == ["yes"]
            else:
                assert made.run(ask(question)) == ["yes"]
    assert [attempt.number for attempt in provider.attempts] == [1, 2, 3, 1]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_each_of_n_answers_is_a_request_of_its_own_with_its_own_tries(tmp_path: Path, way: str) -> None:
    with _runtime(tmp_path, failures=1, retries=2, temperature=1.0) as (made, provider):
        lm = made.lm(scope())

        async def ask() -> Any:
            return await lm.acall("Is 4 even?", n=3)

        assert len(lm("Is 4 even?", n=3) if way == "sync" else made.run(ask())) == 3
    assert [(attempt.repeat, attempt.number) for attempt in provider.attempts] == [(0, 1), (0, 2), (1, 1), (2, 1)]


def test_a_rollout_is_that_of_the_call_or_else_the_models(tmp_path: Path) -> None:
    with _runtime(tmp_path, temperature=1.0) as (made, provider):
        lm = made.lm(scope())
        lm("Is 4 even?", rollout_id=3)
        lm.copy(rollout_id=4)("Is 4 even?")
        lm("Is 4 even?")
        lm("Is 4 even?", rollout_id=3)
    assert [attempt.rollout for attempt in provider.attempts] == [3, 4, None]


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({"model": "openai/x", "max_tokens": 9}, {"temperature": 0.0, "max_completion_tokens": 9}),
        ({"model": "openai/o3", "max_tokens": 9}, {"max_completion_tokens": 9}),
        ({"model": "openai/o3"}, {}),
        ({"model": "openai/o3", "temperature": 1.0}, {"temperature": 1.0}),
        ({"model": "openai/x", "temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5, "top_p": 0.9}),
    ],
)
def test_a_model_is_sent_its_own_settings(tmp_path: Path, settings: dict[str, Any], sent: dict[str, Any]) -> None:
    with _runtime(tmp_path, 0, **{"send_seed": "off", **settings}) as (made, provider):
        made.lm(scope())("Is 4 even?")
    messages = [{"role": "user", "content": "Is 4 even?"}]
    assert provider.bodies == [{"model": settings["model"], "messages": messages, **sent}]


def test_a_sample_is_known_to_the_attempt_and_a_copy_of_a_model_keeps_its_scope(tmp_path: Path) -> None:
    with _runtime(tmp_path) as (made, provider):
        lm = made.lm(scope())
        token = CURRENT_SAMPLE.set(("q1", 2))
        try:
            assert lm.copy()("Is 4 even?") == copy.deepcopy(lm)("Is 4 even?") == ["yes"]
        finally:
            CURRENT_SAMPLE.reset(token)
    assert [attempt.repeat for attempt in provider.attempts] == [2]


def test_after_a_call_the_next_one_is_another(tmp_path: Path) -> None:
    with _runtime(tmp_path) as (made, _):
        lm = made.lm(scope())

        async def ask() -> Any:
            await lm.acall("Is 4 even?", n=1, stop="x")
            return CALL.get()

        assert CALL.get() is None
        lm("Is 4 even?")
        assert CALL.get() is None
        assert made.run(ask()) is None


def test_a_length_that_a_call_asks_for_counts_before_the_models_own(tmp_path: Path) -> None:
    with _runtime(tmp_path, max_tokens=9) as (made, provider):
        lm = made.lm(scope())
        lm("Is 4 even?", max_tokens=5)
        lm.copy(max_tokens=6)("Is 4 even?")
        lm("Is 4 even?")
    assert [body["max_completion_tokens"] for body in provider.bodies] == [5, 6, 9]


def test_of_answers_that_were_cut_off_dspy_says_nothing_and_of_all_else_what_it_says(
    tmp_path: Path,
) -> None:
    with _runtime(tmp_path) as (made, _):
        made.lm(scope())("Is 4 even?")
    logger = logging.getLogger("dspy.clients.lm")
    said = [
        logging.LogRecord(logger.name, logging.WARNING, "f", 1, text, None, None)
        for text in ("LM response was truncated due to its length", "something else")
    ]
    assert [bool(logger.filter(record)) for record in said] == [False, True]


@pytest.mark.parametrize(("history", "fast"), [(True, 1), (False, 0)])
def test_texts_on_the_runtimes_own_loop_take_the_fast_path_and_are_not_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, history: bool, fast: int
) -> None:
    """From another loop they are handed over, whatever they are."""
    taken = list[str]()
    quickly = lm_module.call_fast

    async def noted(*given: Any) -> Any:
        taken.append("fast")
        return await quickly(*given)

    monkeypatch.setattr(lm_module, "call_fast", noted)
    with _runtime(tmp_path) as (made, _):
        lm, until_stop = made.lm(scope()), made.until_stop

        def handed_over(*given: Any) -> Any:
            taken.append("handed over")
            return until_stop(*given)

        monkeypatch.setattr(made, "until_stop", handed_over)

        async def ask(question: str) -> Any:
            with dspy.context(disable_history=history):
                return await lm.acall(question)

        assert made.run(ask("Is 4 even?")) == ["yes"]
        assert taken == ["fast"] * fast
        assert asyncio.run(ask("Is 5 even?")) == ["yes"]
        assert taken == [*["fast"] * fast, "handed over"]
