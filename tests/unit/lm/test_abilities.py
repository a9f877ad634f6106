"""What DSPy is told of a model, and that schemas, tools and other forms really reach the endpoint and come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.lm.abilities import abilities_of
from seedbed.lm.adapter import quick_adapter
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import PRICE, ledger_url, scope, sums
from tests.unit.lm.test_odd_replies import endpoint

KNOWN = [
    "openai/gpt-4o",
    "openai/gpt-4o-mini",
    "openai/gpt-4.1",
    "openai/gpt-4.1-mini",
    "openai/gpt-4.1-nano",
    "openai/gpt-5",
    "openai/gpt-5-mini",
    "openai/gpt-5-nano",
    "openai/o1",
    "openai/o3",
    "openai/o3-mini",
    "openai/o4-mini",
    "openai/gpt-4-turbo",
    "openai/gpt-3.5-turbo",
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-opus-4-1",
    "anthropic/claude-3-5-haiku-latest",
    "anthropic/claude-3-haiku-20240307",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
    "gemini/gemini-2.0-flash",
    "mistral/mistral-large-latest",
    "groq/llama-3.3-70b-versatile",
    "deepseek/deepseek-chat",
    "deepseek/deepseek-reasoner",
    "xai/grok-4",
    "openrouter/openai/gpt-4o",
    "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct",
    "cohere/command-r-plus",
]
USAGE = {"prompt_tokens": 5, "completion_tokens": 5}


def _reply(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}], "usage": USAGE}


@pytest.mark.parametrize("name", KNOWN)
def test_an_lm_of_ours_believes_of_a_model_what_a_plain_one_does(tmp_path: Path, name: str) -> None:
    made = LMRuntime(ledger_url(tmp_path), {"m": ModelConfig(model=name)})
    try:
        ours, plain = made.lm(scope()), dspy.LM(name)
        assert (ours.supports_function_calling, ours.supports_reasoning, ours.supports_response_schema) == (
            plain.supports_function_calling,
            plain.supports_reasoning,
            plain.supports_response_schema,
        )
        assert ours.supported_params == plain.supported_params
    finally:
        made.close()


def test_a_config_knows_better_than_the_catalogue() -> None:
    own = ModelConfig(model="openai/own", api_base="http://127.0.0.1:9/v1")
    assert not abilities_of(own).response_schema
    told = abilities_of(own.model_copy(update={"structured": "schema", "tools": "on"}))
    assert told.response_schema
    assert told.function_calling
    assert {"response_format", "tools"} <= told.params
    less = abilities_of(ModelConfig(model="openai/gpt-4.1", structured="off", tools="off"))
    assert not less.response_schema
    assert not less.function_calling
    assert not {"response_format", "tools"} & less.params


def test_a_bare_off_of_yaml_is_understood() -> None:
    told = ModelConfig.model_validate({"model": "openai/x", "structured": False, "tools": True, "send_seed": False})
    assert (told.structured, told.tools, told.send_seed) == ("off", "on", "off")


def _asked(folder: Path, reply: Any, signature: Any, inputs: dict[str, Any], **changes: Any) -> tuple[Any, list[Any]]:
    """The prediction of a system, asked twice in two runtimes, and the bodies that were sent."""
    with endpoint(reply) as (url, bodies):
        settings = {"model": "openai/own", "api_base": url, "price": PRICE, "retries": 0, **changes}
        answers: list[Any] = []
        for execution in ("first", "second"):
            made = LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate(settings)})

            async def ask(lm: Any) -> Any:
                with dspy.context(lm=lm, adapter=quick_adapter(), disable_history=True):
                    return await dspy.Predict(signature).acall(**inputs)

            try:
                answers.append(made.run(ask(made.lm(scope(execution=execution)))))
            finally:
                made.close()
    assert answers[0].toDict() == answers[1].toDict()
    return answers[0], bodies


def test_an_unreadable_answer_is_asked_for_again_with_a_schema(tmp_path: Path) -> None:
    answer, bodies = _asked(
        tmp_path, _reply(content='{"answer": "yes"}'), "question -> answer", {"question": "?"}, structured="schema"
    )
    assert answer.answer == "yes"
    assert [body.get("response_format", {}).get("type") for body in bodies] == [None, "json_schema"]
    assert sums(tmp_path).outcomes == {"paid": 2, "reused": 2}


def test_without_the_ability_the_second_question_has_no_schema(tmp_path: Path) -> None:
    _, bodies = _asked(tmp_path, _reply(content='{"answer": "yes"}'), "question -> answer", {"question": "?"})
    assert [body.get("response_format") for body in bodies] == [None, None]


@pytest.mark.parametrize(("form", "content"), [("json", '{"answer": "yes"}'), ("xml", "<answer>yes</answer>")])
def test_a_model_is_asked_in_the_form_its_settings_name(tmp_path: Path, form: str, content: str) -> None:
    answer, bodies = _asked(
        tmp_path, _reply(content=content), "question -> answer", {"question": "?"}, adapter=form, structured="json"
    )
    assert answer.answer == "yes"
    assert len(bodies) == 1, "it was understood at once"


def test_native_tool_calls_pass_whole_through_the_ledger(tmp_path: Path) -> None:
    def weather(city: str) -> str:
        """Tells the weather."""
        return f"rain in {city}"

    class Act(dspy.Signature):
        question: str = dspy.InputField()
        tools: list[dspy.Tool] = dspy.InputField()
        calls: dspy.ToolCalls = dspy.OutputField()

    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": json.dumps({"city": "Ulm"})}}
    answer, bodies = _asked(
        tmp_path,
        _reply(content=None, tool_calls=[call]),
        Act,
        {"question": "Does it rain in Ulm?", "tools": [dspy.Tool(weather)]},
        adapter="json",
        tools="on",
    )
    assert [tool["function"]["name"] for tool in bodies[0]["tools"]] == ["weather"]
    assert [(one.name, one.args) for one in answer.calls.tool_calls] == [("weather", {"city": "Ulm"})]
    assert len(bodies) == 1, "the second time it came from the ledger"


def test_a_seed_is_sent_where_sampling_is_random_and_follows_from_the_sweeps(tmp_path: Path) -> None:
    with endpoint(_reply(content="yes")) as (url, bodies):
        settings = {"model": "openai/own", "api_base": url, "price": PRICE, "temperature": 1.0}
        for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
            made = LMRuntime(ledger_url(tmp_path / folder), {"m": ModelConfig.model_validate(settings)})
            lm = made.lm(scope(seed=seed))
            lm("hello")
            lm("hello", rollout_id=7)
            made.close()
        for changes in ({"temperature": 0.0}, {"send_seed": "off"}, {"extra": {"seed": 5}}):
            made = LMRuntime(ledger_url(tmp_path / str(changes)), {"m": ModelConfig.model_validate(settings | changes)})
            made.lm(scope())("hello")
            made.close()
    seeds = [body.get("seed") for body in bodies]
    assert seeds[:2] == seeds[2:4], "the same sweep again"
    assert len({*seeds[:2], *seeds[4:6]}) == 4, "another rollout and another seed are other draws"
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in seeds[:6])
    assert seeds[6:] == [None, None, 5]
