"""PAPILLON thinks before it writes to the untrusted model, and its judges before they decide, as in the source."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import dspy
from dspy.utils import DummyLM

from seedbed import Case, Options, PhaseContext
from seedbed.suites.prompt_optimization.judges import judge_privacy
from seedbed.suites.prompt_optimization.programs import Papillon


def test_the_request_is_thought_about_and_the_answer_is_not() -> None:
    context = SimpleNamespace(
        benchmark=SimpleNamespace(name="PUPA", resources={"kind": "papillon"}), lm=lambda _role: None
    )
    program = Papillon(cast("PhaseContext", context), Options())
    outputs = {name: list(one.signature.output_fields) for name, one in program.named_predictors()}
    assert outputs == {"craft_request.predict": ["reasoning", "llm_request"], "respond": ["response"]}


def test_the_judges_say_why() -> None:
    asked: list[str] = []

    class Noting(DummyLM):
        async def aforward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
            asked.append(messages[-1]["content"])
            return await super().aforward(prompt, messages, **kwargs)

    answers: list[dict[str, Any]] = [
        {"reasoning": "as good", "first_is_at_least_as_good": "True"},
        {"reasoning": "one of two", "facts_given_away": "1"},
    ]
    case = Case("q", {"user_query": "?"}, gold={"target_response": "yes", "pii_units": ["Ann", "Ulm"]})
    lm = Noting(answers)
    with dspy.context(adapter=dspy.ChatAdapter()):
        found = asyncio.run(judge_privacy(lm, case, {"response": "yes", "llm_request": "Ask for Ann."}))
    assert (found.quality, found.leakage) == (1.0, 0.5)
    assert len(asked) == 2
    assert all("`[[ ## reasoning ## ]]`" in question for question in asked)
