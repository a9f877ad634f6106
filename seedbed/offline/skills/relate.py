"""Fills an output from what the model knows of the inputs: `country -> capital` is a question too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from seedbed.offline.prompt import OutputField, Prompt
from seedbed.offline.skill import THOUGHTS, Call, Skill, with_thought
from seedbed.offline.skills.recall import RECALL

_LONGEST = 200
"""Characters of all inputs; more is a text to work on, not a thing to know something of."""


def _fits(prompt: Prompt) -> bool:
    return len(_wanted(prompt)) == 1 and 0 < sum(map(len, prompt.inputs.values())) <= _LONGEST


def _wanted(prompt: Prompt) -> list[OutputField]:
    return [field for field in prompt.output_fields if field.type == "str" and field.name not in THOUGHTS]


def _answer(call: Call) -> Mapping[str, object]:
    (field,) = _wanted(call.prompt)
    question = f"{field.name.replace('_', ' ')} {' '.join(call.prompt.inputs.values())}?"
    # A field with a name of its own is filled with the thing itself, not with a sentence about it.
    asked = Prompt("Answer with the shortest span only.", {"question": question}, (OutputField("answer"),))
    found = RECALL.answer(replace(call, prompt=asked))["answer"]
    return with_thought(call.prompt, {field.name: found}, f"I look for the {field.name.replace('_', ' ')}.")


RELATE = Skill("relate", _fits, _answer)
