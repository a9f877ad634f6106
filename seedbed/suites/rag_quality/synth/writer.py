"""The model's three parts in making a test set: personas, a case for a scenario, and whether it can be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from seedbed.suites.rag_quality.asking import Account, Asker, Misfit
from seedbed.suites.rag_quality.judge import numbered
from seedbed.suites.rag_quality.synth.gates import Written
from seedbed.suites.rag_quality.synth.prompts import InventPersonas, JudgeAnswerable, Persona, WriteCase
from seedbed.suites.rag_quality.synth.scenarios import Scenario
from seedbed.suites.rag_quality.synth.units import Document

_EXCERPT = 600
_MOST_EXCERPTS = 12


@dataclass(frozen=True, slots=True)
class Answerable:
    answerable: bool
    sufficient_alone: tuple[int, ...]
    reason: str


class Writer:
    def __init__(self, writer: dspy.LM, judge: dspy.LM) -> None:
        self._writer = Asker(writer)
        self._judge = Asker(judge)

    async def personas(self, documents: Sequence[Document], count: int) -> list[Persona]:
        """One call for all of them, from the beginnings of the documents."""
        excerpts = [document.text.strip()[:_EXCERPT] for document in documents[:_MOST_EXCERPTS]]

        def check(reply: Any) -> list[Persona]:
            names = {persona.name.strip() for persona in reply.personas} - {""}
            if len(reply.personas) < count or len(names) < len(reply.personas):
                raise Misfit(f"{len(names)} personas with a name of their own came, but {count} are needed")
            return list(reply.personas[:count])

        return await self._writer.ask(Account(), InventPersonas, {"excerpts": excerpts, "count": count}, check)

    async def write(self, scenario: Scenario, persona: Persona) -> Written:
        """A question, its answer and quotes. What it says is checked by the gates, not here."""
        inputs = {"units": numbered([unit.text for unit in scenario.units]), "persona": persona}
        return await self._writer.ask(
            Account(), WriteCase, inputs, lambda reply: Written(reply.question, reply.answer, tuple(reply.quotes))
        )

    async def judge(self, scenario: Scenario, written: Written) -> Answerable:
        inputs = {
            "units": numbered([unit.text for unit in scenario.units]),
            "question": written.question,
            "answer": written.answer,
        }

        def check(reply: Any) -> Answerable:
            alone = tuple(reply.sufficient_alone)
            if not all(1 <= index <= len(scenario.units) for index in alone):
                raise Misfit(f"sufficient_alone is {list(alone)}, but the units are 1 to {len(scenario.units)}")
            return Answerable(reply.answerable, alone, reply.reason)

        return await self._judge.ask(Account(), JudgeAnswerable, inputs, check)
