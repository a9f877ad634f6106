"""Reflects on feedback and writes a better instruction, as GEPA asks for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from seedbed.offline.advice import EMPTY
from seedbed.offline.skill import Call, Lesson, Prompt, Skill


def _fits(prompt: Prompt) -> bool:
    return "current_instruction" in prompt.inputs and "examples_with_feedback" in prompt.inputs


def _answer(call: Call) -> Mapping[str, object]:
    current = call.prompt.inputs["current_instruction"].strip()
    found = Counter(advice for lesson in _lessons(call) for advice in call.advice if advice.lacked(lesson))
    fresh = [advice for advice, _ in found.most_common() if not advice.said_in(current)]
    # A slip writes something that sounds well and helps nobody: whether it does is for the search to find out.
    understood = bool(fresh) and not call.chance.slips("reflect")
    said = fresh[0].says if understood else call.chance.pick("empty advice", EMPTY)
    field = call.prompt.output_fields[-1].name
    return {field: current if said in current else f"{current}\n{said}"}


def _lessons(call: Call) -> list[Lesson]:
    try:
        loaded: object = json.loads(call.prompt.inputs["examples_with_feedback"])
    except ValueError:
        return []
    return [_lesson(cast("dict[str, Any]", item)) for item in cast("list[object]", loaded) if isinstance(item, dict)]


def _lesson(example: Mapping[str, Any]) -> Lesson:
    outputs = _texts(example.get("Generated Outputs"))
    return Lesson(_texts(example.get("Inputs")), outputs, str(example.get("Feedback", "")))


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name): str(own) for name, own in cast("dict[Any, Any]", value).items()}


REFLECT = Skill("reflect", _fits, _answer)
