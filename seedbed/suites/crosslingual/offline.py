"""Judges whether an answer means what a gold answer means: by words, by numbers, and across languages by concepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from seedbed.offline.skill import Call, Lexicon, Prompt, Skill, asks_for, register, texts

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ARABIC_INDIC = str.maketrans("٠١٢٣٤٥٦٧٨٩", "0123456789")
_DENSE = 0.8
"""From this share of common terms on, two answers say the same."""


def fits(prompt: Prompt) -> bool:
    return asks_for(prompt, {"gold_answers", "predicted_answer"}, {"score", "explanation"})


def answer(call: Call) -> Mapping[str, object]:
    gold = texts.passages(call.prompt.inputs["gold_answers"])
    pred = call.prompt.inputs["predicted_answer"]
    score, reason = max((_alike(one, pred, call.lexicon) for one in gold), default=(0.0, "There is no gold answer."))
    if call.chance.slips("semantic"):
        # A careless judge is off by a part of the scale, not by all of it.
        score = round(score * 0.5 + 0.25, 2)
        reason = "The answers are partly alike."
    return {"explanation": reason, "score": score}


def _alike(gold: str, pred: str, lexicon: Lexicon) -> tuple[float, str]:
    if not pred.strip():
        return (0.0, "Nothing was answered.") if gold.strip() else (1.0, "Nothing was to be answered.")
    if texts.phrase_key(gold) == texts.phrase_key(pred):
        return 1.0, "The same answer."
    wanted, given = _numbers(gold), _numbers(pred)
    if wanted and given and wanted != given:
        return (0.3, "Only some numbers agree.") if wanted & given else (0.0, "The numbers differ.")
    share = _shared(gold, pred, lexicon)
    if wanted and wanted == given:
        return (1.0 if share >= _DENSE / 2 or len(pred) < 4 * len(gold) else 0.8), "The same value."
    if share >= _DENSE:
        return 1.0, "The same meaning in other words."
    return (round(share, 2), "Partly the same.") if share else (0.0, "Something else is said.")


def _shared(gold: str, pred: str, lexicon: Lexicon) -> float:
    """The part of the gold answer that the prediction says, in any language the lexicon knows."""
    concepts = {mention.concept for mention in lexicon.mentions(gold)}
    if concepts and concepts <= {mention.concept for mention in lexicon.mentions(pred)}:
        return 1.0
    terms = texts.terms(gold)
    return len(terms & texts.terms(pred)) / len(terms) if terms else 0.0


def _numbers(text: str) -> frozenset[str]:
    return frozenset(
        number.replace(",", "").removesuffix(".0") for number in _NUMBER.findall(text.translate(_ARABIC_INDIC))
    )


register(
    __name__,
    skills=(Skill("semantic", fits, answer),),
    # The sample's sentences and names in all its languages: what the model translates and compares by.
    data=(Path(__file__).parent / "data" / "tiny",),
)
