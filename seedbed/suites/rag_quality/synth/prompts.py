"""The prompts that make a test set."""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel, Field

from seedbed.suites.rag_quality.prompts import Numbered


class Persona(BaseModel):
    """Somebody who would ask questions about the documents."""

    name: str
    role_description: str
    expertise_level: Literal["beginner", "intermediate", "expert"]
    focus_area: str


class Quote(BaseModel):
    unit: int = Field(description="index of the unit")
    text: str = Field(description="copied from the unit, character by character")


class InventPersonas(dspy.Signature):
    """Invent as many different readers of these documents as asked for: people with a reason to consult them, of
    different roles, levels and interests. Write in the main language of the excerpts."""

    excerpts: list[str] = dspy.InputField()
    count: int = dspy.InputField()
    personas: list[Persona] = dspy.OutputField()


class WriteCase(dspy.Signature):
    """Write one question that the persona would ask and that the units answer, the complete answer, and the evidence.
    The question must make sense to somebody who has never seen the units: name what it is about and do not mention a
    text, passage or document. With one unit, ask about it; with several, ask what can only be answered by combining
    all of them. Quote the evidence verbatim, one or more quotes from every unit, copied character by character. Write
    question and answer in the language of the units."""

    units: list[Numbered] = dspy.InputField()
    persona: Persona = dspy.InputField()
    question: str = dspy.OutputField()
    answer: str = dspy.OutputField()
    quotes: list[Quote] = dspy.OutputField()


class JudgeAnswerable(dspy.Signature):
    """Decide whether the units answer the question, and whether the given answer is that answer. Then list the units
    that would suffice alone: those from which the complete answer can be given without reading any other."""

    units: list[Numbered] = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.InputField()
    reason: str = dspy.OutputField(desc="one short sentence")
    answerable: bool = dspy.OutputField(desc="the units answer the question, and the answer is right")
    sufficient_alone: list[int] = dspy.OutputField(desc="indexes of units that suffice alone; may be empty")
