"""The judge's prompts: typed in and out. What is judged in numbers carries its index, so that no verdict can slip to
its neighbour."""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field


class Numbered(BaseModel):
    """A text with the index that verdicts refer to; the first is 1."""

    index: int
    text: str


class Verdict(BaseModel):
    index: int = Field(description="index of the text that is judged")
    reason: str = Field(description="one short sentence, in the language of that text")
    holds: bool


class Decompose(dspy.Signature):
    """Break the text into atomic statements: each says one thing, can be checked alone and names what it speaks of
    instead of using a pronoun. Keep every number, name, negation and condition. Add nothing, leave nothing out, and
    write in the language of the text. The question only tells what the text speaks of. A text that asserts nothing,
    such as a refusal or "I do not know", makes no claims and has no statements."""

    question: str = dspy.InputField()
    text: str = dspy.InputField()
    makes_claims: bool = dspy.OutputField(desc="false only if the text asserts nothing at all")
    statements: list[str] = dspy.OutputField()


class VerifyStatements(dspy.Signature):
    """For every statement decide whether the contexts entail it. A statement holds only if a reader who knows nothing
    but the contexts must accept it, with every number, name and condition. What is merely plausible, or true of the
    world but absent from the contexts, does not hold. Give exactly one verdict for each index."""

    contexts: list[Numbered] = dspy.InputField()
    statements: list[Numbered] = dspy.InputField()
    verdicts: list[Verdict] = dspy.OutputField(desc="holds: the contexts entail the statement")


class JudgeContexts(dspy.Signature):
    """For every context decide whether it is relevant to the question: whether somebody who answers it would want to
    read this context, even if it holds only a part of the answer or is wrong. Sharing a word with the question is not
    enough. Give exactly one verdict for each index."""

    question: str = dspy.InputField()
    contexts: list[Numbered] = dspy.InputField()
    verdicts: list[Verdict] = dspy.OutputField(desc="holds: the context is relevant to the question")


class JudgeUsefulContexts(dspy.Signature):
    """For every context decide whether it helps to arrive at the reference answer to the question. Give exactly one
    verdict for each index."""

    question: str = dspy.InputField()
    reference_answer: str = dspy.InputField()
    contexts: list[Numbered] = dspy.InputField()
    verdicts: list[Verdict] = dspy.OutputField(desc="holds: the context helps to arrive at the reference answer")


class JudgeRelevancy(dspy.Signature):
    """Judge whether the answer answers the question. Whether it is true does not matter. 1 is a direct and complete
    answer without anything beside the point; about 0.6 one that touches what was asked without answering directly, or
    buries the answer in other matters; 0 one that speaks of something else or declines to answer. Write the reason in
    the language of the answer."""

    question: str = dspy.InputField()
    answer: str = dspy.InputField()
    reason: str = dspy.OutputField(desc="one short sentence")
    direct: bool = dspy.OutputField(desc="what was asked is answered outright")
    complete: bool = dspy.OutputField(desc="every part of the question is answered")
    off_topic: bool = dspy.OutputField(desc="most of the answer is beside the point")
    score: float = dspy.OutputField(ge=0.0, le=1.0)


class CompareStatements(dspy.Signature):
    """Compare the statements of an answer with those of the reference answer to the same question. A statement of the
    answer holds if the reference says the same or implies it; a statement of the reference holds if the answer says
    the same or implies it. Other words are fine, another number, name or condition is not. Give exactly one verdict
    for each index of each list."""

    question: str = dspy.InputField()
    answer_statements: list[Numbered] = dspy.InputField()
    reference_statements: list[Numbered] = dspy.InputField()
    answer_verdicts: list[Verdict] = dspy.OutputField(desc="holds: the reference supports the answer's statement")
    reference_verdicts: list[Verdict] = dspy.OutputField(desc="holds: the answer covers the reference's statement")
