"""The semantic score: a model says how far an answer means what the gold answer means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from seedbed.errors import BudgetReached, Interrupted, ReplayMiss, SeedbedError
from seedbed.storage.redact import redact
from seedbed.suites.crosslingual.languages import language_name

_NOT_THE_SAMPLES_FAULT = (BudgetReached, Interrupted, ReplayMiss)
_QUOTED = 300


class JudgeAnswer(dspy.Signature):
    """Say how far the predicted answer means the same as one of the gold answers to the question, from 0 to 1. The same
    meaning in other words, another language or another unit of the same value is worth 1. Missing key information
    lowers the score. An answer that contradicts the gold answers is worth 0."""

    question: str = dspy.InputField()
    gold_answers: list[str] = dspy.InputField(desc="any of them is right")
    predicted_answer: str = dspy.InputField()
    answer_language: str = dspy.InputField()
    explanation: str = dspy.OutputField(desc="one sentence")
    score: float = dspy.OutputField(desc="from 0.0 to 1.0")


class Unjudged(SeedbedError):
    """The judge gave nothing usable, even when asked to mend it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    score: float
    explanation: str


async def judge(lm: dspy.LM, question: str, gold: list[str], pred: str, lang: str) -> Judgement:
    """One call, and one repair call where the reply cannot be used; then Unjudged. Never a score by default."""
    inputs = {
        "question": question,
        "gold_answers": gold,
        "predicted_answer": pred,
        "answer_language": language_name(lang),
    }
    try:
        return await _ask(lm, JudgeAnswer, inputs)
    except _Unusable as error:
        problem = f"{error}. Reply again, in full and in the format asked for."
    mended = JudgeAnswer.append("problem", dspy.InputField(desc="why your last reply could not be used"), type_=str)
    try:
        return await _ask(lm, mended, {**inputs, "problem": problem})
    except _Unusable as error:
        raise Unjudged(f"the judge's reply could not be used, nor its repair: {error}") from None


class _Unusable(ValueError):
    """A reply that cannot be read as a judgement; the text tells the judge what to mend."""


async def _ask(lm: dspy.LM, signature: type[dspy.Signature], inputs: dict[str, Any]) -> Judgement:
    # DSPy's own fallback to JSON would be a call more than the two that are allowed.
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        try:
            reply: Any = await dspy.Predict(signature).acall(**inputs)
        except AdapterParseError as error:
            quoted = redact(str(error.lm_response))[:_QUOTED]
            raise _Unusable(f"it lacks the fields asked for; it began: {quoted!r}") from error
        except _NOT_THE_SAMPLES_FAULT:
            raise
        except Exception as error:
            if any(isinstance(cause, _NOT_THE_SAMPLES_FAULT) for cause in (error.__cause__, error.__context__)):
                raise
            raise Unjudged(f"{type(error).__name__}: {redact(str(error))[:_QUOTED]}") from error
    if not isinstance(reply.score, int | float) or not math.isfinite(reply.score) or not 0 <= reply.score <= 1:
        raise _Unusable(f"the score is {reply.score!r}, but must lie between 0 and 1")
    return Judgement(float(reply.score), str(reply.explanation or ""))
