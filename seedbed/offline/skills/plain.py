"""Answers prompts that are plain text, as people write them: finds the question, what there is to read, and the wishes
around both, and answers as it would in any other format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from seedbed.offline import text as texts
from seedbed.offline.prompt import PLAIN_INPUT, PLAIN_OUTPUT, Demo, OutputField, Prompt
from seedbed.offline.skill import Call, Skill
from seedbed.offline.skills import read, recall

_LABEL = re.compile(
    r"^[ \t]*(?:#+[ \t]*|\**)(?P<label>context|passages?|documents?|text|article|sources?|evidence|question|query|q)\**"
    r"[ \t]*:\**[ \t]*\n?",
    re.IGNORECASE | re.MULTILINE,
)
_ASKING = ("question", "query", "q")
_QUESTION = re.compile(r"[?？؟]\W*$")
_LONG = 12
"""From so many words on, a paragraph without a question is something to read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A plain prompt taken apart."""

    question: str
    context: str
    wishes: str
    """All but what there is to read."""


@lru_cache(maxsize=4096)
def take_apart(text: str) -> Reading:
    """By labels such as `Context:` and `Question:` where they are there, else by the look of sentences."""
    sections: dict[str, str] = {}
    loose: list[str] = []
    parts = _LABEL.split(text)
    loose.append(parts[0])
    for label, body in zip(parts[1::2], parts[2::2], strict=True):
        name = "question" if label.lower() in _ASKING else "context"
        # What stands below a labelled question, after a blank line, is no part of it.
        own, _, rest = body.strip().partition("\n\n") if name == "question" else (body.strip(), "", "")
        sections[name] = f"{sections[name]}\n{own}" if name in sections else own
        loose.append(rest)
    around = "\n\n".join(part.strip() for part in loose if part.strip())
    question = sections.get("question") or _question_in(around) or _question_in(sections.get("context", ""))
    context = sections.get("context") or _longest(around, question)
    return Reading(question or around, context, around.replace(context, " ") if context else around)


def _question_in(text: str) -> str:
    asked = [sentence for sentence in texts.sentences(text) if _QUESTION.search(sentence)]
    return asked[-1] if asked else ""


def _longest(text: str, question: str) -> str:
    paragraphs = [part for part in text.split("\n\n") if not question or question not in part]
    longest = max(paragraphs, key=len, default="")
    return longest if len(texts.words(longest)) >= _LONG else ""


def _fits(prompt: Prompt) -> bool:
    return prompt.format == "plain" and bool(prompt.inputs[PLAIN_INPUT].strip())


def _answer(call: Call) -> Mapping[str, object]:
    found = take_apart(call.prompt.inputs[PLAIN_INPUT])
    inputs = {"question": found.question, **({"context": found.context} if found.context else {})}
    asked = Prompt(
        instructions=f"{call.prompt.instructions}\n{found.wishes}",
        inputs=inputs,
        output_fields=(OutputField("answer"),),
        demos=tuple(Demo({}, {"answer": demo.outputs[PLAIN_OUTPUT]}) for demo in call.prompt.demos),
    )
    skill = read.READ if found.context else recall.RECALL
    return {PLAIN_OUTPUT: skill.answer(replace(call, prompt=asked))["answer"]}


def _case(prompt: Prompt) -> object:
    """Wishes are left out: whether the model masters a case is a property of the case."""
    found = take_apart(prompt.inputs[PLAIN_INPUT])
    return found.question, found.context


PLAIN = Skill("plain", _fits, _answer, _case)
