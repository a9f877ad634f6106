"""Agents of DSPy that call tools natively: every call of theirs is in the ledger under its sample, whole."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import dspy

from seedbed.lm.adapter import quick_adapter
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import history
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import PRICE, ledger_url, scope, sums
from tests.unit.lm.test_odd_replies import endpoint

USAGE = {"prompt_tokens": 9, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 4}}
CITIES = ("Ulm", "Bonn", "Kiel")


def _says(body: dict[str, Any]) -> dict[str, Any]:
    """What a model with tools would: look the city up first, then hand in what it was told."""
    asked = json.dumps(body["messages"])
    city = next(name for name in CITIES if name in asked)
    if not body.get("tools"):
        message: dict[str, Any] = {"content": json.dumps({"weather": f"rain in {city}"})}
    else:
        told = f"rain in {city}" in asked
        name, arguments = ("submit", {"answer": f"rain in {city}"}) if told else ("look_up", {"city": city})
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = {"content": None, "reasoning_content": f"I think of {city}", "tool_calls": [call]}
    choice = {
        "message": {"role": "assistant", **message},
        "finish_reason": "tool_calls" if body.get("tools") else "stop",
    }
    return {"choices": [choice], "usage": USAGE}


async def look_up(city: str) -> str:
    """Tells the weather; it asks a model, too."""
    return (await dspy.Predict("city -> weather").acall(city=city)).weather


def _agents(folder: Path, url: str, *, replay: bool) -> dict[str, Any]:
    """What an agent for each city answers, all of them at once."""
    settings = {"model": "openai/own", "api_base": url, "price": PRICE, "retries": 0, "adapter": "json", "tools": "on"}
    made = LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate(settings)}, replay=replay)
    agent = dspy.ReActV2("question -> answer", tools=[look_up], max_iters=3)

    async def one(city: str) -> Any:
        CURRENT_SAMPLE.set((city, 0))
        return (await agent.acall(question=f"How is the weather in {city}?")).toDict()

    async def all_of_them() -> list[Any]:
        lm = made.lm(scope(execution="again" if replay else "first"))
        with dspy.context(lm=lm, adapter=quick_adapter(), disable_history=True):
            return await asyncio.gather(*map(one, CITIES))

    try:
        return dict(zip(CITIES, made.run(all_of_them()), strict=True))
    finally:
        made.close()


def test_an_agents_calls_stand_under_their_sample_and_are_replayed_whole(tmp_path: Path) -> None:
    with endpoint(_says) as (url, bodies):
        answers = _agents(tmp_path, url, replay=False)
        sent = len(bodies)
        again = _agents(tmp_path, url, replay=True)
        assert len(bodies) == sent == 3 * len(CITIES), "a look-up, what it asks itself, and the end"
    assert {city: told["answer"] for city, told in answers.items()} == {city: f"rain in {city}" for city in CITIES}
    assert {told["termination_reason"] for told in answers.values()} == {"submit"}
    assert str(again) == str(answers)
    assert sums(tmp_path).outcomes == {"paid": 9, "reused": 9}
    engine = open_database(ledger_url(tmp_path))
    rows = [*history(engine, "c", ["first"]), *history(engine, "c", ["again"])]
    engine.dispose()
    for row in rows:
        assert row["sample"] in json.dumps(row["request"])
        assert row["response"] == _says(row["request"])
        assert row["tokens_reasoning"] == 4
    with_tools = [row for row in rows if row["request"].get("tools")]
    assert len(with_tools) == 12
    assert {tool["function"]["name"] for row in with_tools for tool in row["request"]["tools"]} == {"look_up", "submit"}
