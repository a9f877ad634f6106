"""Reflects on feedback and writes a better instruction, as GEPA asks for it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from seedbed.lm.offline.prompt import Prompt
from seedbed.lm.offline.skill import Call, Skill
from seedbed.lm.offline.skills.advice import BRIDGE, CHECK, EMPTY, INTEGER, REDACT, SHORT, STEPS, Advice

_EXPECTED = re.compile(r"expected was ['\"](.+?)['\"][.;]?(?:\s|$)")
_MISSING = re.compile(r"never retrieved by any query: (.*?)\.(?:\s|$)")
_UNMET = re.compile(r"NOT met: ")
_LEAK = re.compile(r"(\d+)% of the user's private facts")
_DIGITS = re.compile(r"-?\d+(?:\.\d+)?")


def _fits(prompt: Prompt) -> bool:
    return "current_instruction" in prompt.inputs and "examples_with_feedback" in prompt.inputs


def _answer(call: Call) -> Mapping[str, object]:
    current = call.prompt.inputs["current_instruction"].strip()
    found = Counter(advice for example in _examples(call) for advice in diagnose(example))
    fresh = [advice for advice, _ in found.most_common() if not advice.pattern.search(current)]
    # A slip writes something that sounds well and helps nobody: whether it does is for the search to find out.
    understood = bool(fresh) and not call.chance.slips("reflect")
    said = fresh[0].says if understood else call.chance.pick("empty advice", EMPTY)
    field = call.prompt.output_fields[-1].name
    return {field: current if said in current else f"{current}\n{said}"}


def _examples(call: Call) -> list[Mapping[str, Any]]:
    try:
        loaded: object = json.loads(call.prompt.inputs["examples_with_feedback"])
    except ValueError:
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[object]", loaded) if isinstance(item, dict)]


def diagnose(example: Mapping[str, Any]) -> list[Advice]:
    """What would have helped, judged by comparing what the module wrote with what the feedback says of it."""
    given, wrote = _texts(example.get("Inputs")), _texts(example.get("Generated Outputs"))
    feedback = str(example.get("Feedback", ""))
    found: list[Advice] = []
    if (missing := _MISSING.search(feedback)) and "query" in wrote:
        names = re.findall(r"'([^']+)'", missing[1])
        if any(name in " ".join(given.values()) and name not in wrote["query"] for name in names):
            found.append(BRIDGE)
    if (expected := _EXPECTED.search(feedback)) and "answer" in wrote:
        found.extend(_of_answer(wrote["answer"], expected[1]))
    if _UNMET.search(feedback) and any("response" in name for name in wrote):
        found.append(CHECK)
    if (leak := _LEAK.search(feedback)) and int(leak[1]) > 0 and "llm_request" in wrote:
        found.append(REDACT)
    return found


def _of_answer(answer: str, expected: str) -> list[Advice]:
    if _DIGITS.fullmatch(expected):
        return [INTEGER] if expected in _DIGITS.findall(answer) else [STEPS]
    longer = expected.casefold() in answer.casefold() and len(answer) > len(expected)
    return [SHORT] if longer else []


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name): str(own) for name, own in cast("dict[Any, Any]", value).items()}


REFLECT = Skill("reflect", _fits, _answer)
