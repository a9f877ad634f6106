"""What the offline model knows for the examples: capitals of countries, some of them wrong or forgotten as a model's
are, and how to judge an answer by a rubric."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from seedbed.offline.skill import Call, Prompt, Skill, asks_for, register, texts

_SCALE = re.compile(r"from (-?\d+).*?to (-?\d+)")
_NOTHING_ELSE = re.compile(r"nothing else|nothing more|\bonly\b|\bconcise|\bshort|\bbrief|no more than", re.IGNORECASE)
_ROOM = 2
"""Words that an answer may have beyond the right one and still say nothing else."""


def fits(prompt: Prompt) -> bool:
    return asks_for(prompt, {"rubric", "scale", "answer"}, {"reason", "score"})


def judge(call: Call) -> Mapping[str, object]:
    """By the right answer where it is shown, and by whether an answer says more than the rubric wants."""
    inputs = call.prompt.inputs
    scale = _SCALE.search(inputs["scale"])
    low, high = (int(scale[1]), int(scale[2])) if scale else (1, 5)
    share, reason = _quality(inputs["rubric"], inputs["answer"], inputs.get("right_answer", ""))
    if call.chance.slips("judge"):
        share, reason = share * 0.5 + 0.25, "It is partly as it should be."
    return {"reason": reason, "score": round(low + share * (high - low))}


def _quality(rubric: str, answer: str, gold: str) -> tuple[float, str]:
    if not answer.strip():
        return 0.0, "Nothing was answered."
    wanted, said = texts.terms(gold), texts.terms(answer)
    if gold and not wanted & said:
        return 0.0, "The answer is not the right one."
    if gold and not wanted <= said:
        return 0.5, "Only a part of the right answer is there."
    room = len(texts.words(gold)) + _ROOM
    if _NOTHING_ELSE.search(rubric) and len(texts.words(answer)) > room:
        return 0.5, "It is right, but more is said than was asked for."
    return 1.0, "It is what the rubric asks for."


def fits_pair(prompt: Prompt) -> bool:
    return asks_for(prompt, {"rubric", "answer_1", "answer_2"}, {"reason", "better"})


def prefer(call: Call) -> Mapping[str, object]:
    """As it would mark them; where it is not sure of itself it takes the first, as models do."""
    inputs = call.prompt.inputs
    gold = inputs.get("right_answer", "")
    (first, why_first), (second, why_second) = (
        _quality(inputs["rubric"], inputs[name], gold) for name in ("answer_1", "answer_2")
    )
    if call.chance.slips("prefer"):
        return {"reason": "The first reads better.", "better": "1"}
    if first == second:
        return {"reason": "Neither is better than the other.", "better": "tie"}
    return {"reason": why_first if first > second else why_second, "better": "1" if first > second else "2"}


register(
    __name__,
    skills=(Skill("rubric", fits, judge), Skill("preference", fits_pair, prefer)),
    data=(Path(__file__).parent / "data",),
)
