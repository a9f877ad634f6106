"""A runtime that only looks: answers on record are given, all else is noted, and nobody is called."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from seedbed.lm.ledger.reads import start_fresh
from seedbed.lm.looking import LookingRuntime, Seen
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.config import ModelConfig
from tests.support.lm import ledger_url, scope, sums

MODEL = ModelConfig.model_validate({"model": "openai/x", "price": {"input": 1.0, "output": 1.0}, "max_tokens": 10})


class _Provider:
    async def chat(self, *_: Any) -> Any:
        message = {"role": "assistant", "content": "yes"}
        usage = {"prompt_tokens": 3, "completion_tokens": 1}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    async def aclose(self) -> None:
        return None


def _paid(folder: Path, *questions: str) -> None:
    made = LMRuntime(ledger_url(folder), {"m": MODEL})
    made.keep("chat:m", _Provider)
    try:
        for question in questions:
            made.lm(scope())(question)
    finally:
        made.close()


def _looked(folder: Path, *questions: str, generation: int = 0) -> tuple[list[Any], list[Seen]]:
    """The answers, None for what is not there, and what was noted."""
    made = LookingRuntime(ledger_url(folder), {"m": MODEL})
    answers = list[Any]()
    try:
        for question in questions:
            try:
                answers.append(made.lm(scope(role="judge", generation=generation))(question)[0])
            except dspy.LMError as error:
                answers.append(None if "not in the ledger yet" in str(error) else error)
        return answers, made.seen
    finally:
        made.close()


def test_what_is_on_record_is_answered_with_its_tokens_and_the_rest_is_likely(tmp_path: Path) -> None:
    _paid(tmp_path, "one", "two")
    before = sums(tmp_path)
    answers, seen = _looked(tmp_path, "one", "three", "two")
    assert answers == ["yes", None, "yes"]
    assert [(one.known, one.tokens_in, one.tokens_out) for one in seen] == [
        (True, 3, 1),
        (False, len("three") // 3 + 4, None),
        (True, 3, 1),
    ]
    assert {(one.cell, one.phase, one.role, one.model, one.sample) for one in seen} == {
        ("c", "generate", "judge", "m", None)
    }
    assert len({one.key for one in seen}) == 3
    assert sums(tmp_path) == before, "nothing is written"


@pytest.mark.parametrize("fresh", [False, True])
def test_an_answer_of_before_a_fresh_start_is_none(tmp_path: Path, fresh: bool) -> None:
    _paid(tmp_path, "one")
    looking = LookingRuntime(ledger_url(tmp_path), {"m": MODEL})
    generation = start_fresh(looking.ledger.engine, "s") if fresh else 0
    looking.close()
    answers, seen = _looked(tmp_path, "one", generation=generation)
    assert answers == ([None] if fresh else ["yes"])
    assert [one.known for one in seen] == [not fresh]


def test_who_looks_is_alone_with_the_limits(tmp_path: Path) -> None:
    _paid(tmp_path, "one")
    looking = LookingRuntime(ledger_url(tmp_path), {"m": MODEL})
    try:
        assert looking.ledger.peers == 1
        assert looking._model_state("m").limiter.allowed == MODEL.limits.concurrency  # type: ignore[attr-defined]
    finally:
        looking.close()


def test_who_looked_leaves_no_connection_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _paid(tmp_path, "one")
    looking, left = LookingRuntime(ledger_url(tmp_path), {"m": MODEL}), list[bool]()
    engine = looking.ledger.engine
    monkeypatch.setattr(looking.ledger, "engine", SimpleNamespace(dispose=lambda: left.append(True)))
    looking.close()
    engine.dispose()
    assert left == [True]
