"""From documents to a test set. Rounds of scenarios fill the slots; what fails a gate is kept with the reason, and its
slot is drawn anew for the same persona, so that personas stay balanced."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.errors import UserError
from seedbed.lm.session import Session
from seedbed.suites.rag_quality.asking import AskError
from seedbed.suites.rag_quality.evalcase import EvalCase
from seedbed.suites.rag_quality.synth.gates import GATES, Written, failed_gate
from seedbed.suites.rag_quality.synth.prompts import Persona
from seedbed.suites.rag_quality.synth.scenarios import MOST_USES, Sampler, Scenario
from seedbed.suites.rag_quality.synth.units import Document, Unit, split
from seedbed.suites.rag_quality.synth.writer import Writer

_FOR_REJECTS = 1.6
"""Scenarios drawn for each case that is wanted, as experience has it."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a test set should be."""

    cases: int
    seed: int = 0
    personas: int = 3
    multi_hop: float = 0.25
    """Share of cases whose answer needs two units."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A scenario that came to nothing, and at which gate."""

    slot: int
    scenario: Scenario
    gate: str
    reason: str
    written: Written | None = None


@dataclass(slots=True)
class TestSet:
    """What was made. Slots that no scenario could fill are missing in `filled`."""

    units: Sequence[Unit]
    personas: Sequence[Persona]
    filled: dict[int, tuple[Scenario, Written]] = field(default_factory=dict[int, tuple[Scenario, Written]])
    rejects: list[Reject] = field(default_factory=list[Reject])

    @property
    def questions(self) -> list[str]:
        return [written.question for _, written in self.filled.values()]

    def gate_counts(self) -> dict[str, int]:
        counts = Counter(reject.gate for reject in self.rejects)
        return {gate: counts[gate] for gate in GATES}


async def make_test_set(documents: Sequence[Document], wish: Wish, session: Session) -> TestSet:
    """Asks the session's model. Every call is on its ledger: given again after a stop, nothing is asked twice."""
    units = split(documents, wanted=_units_needed(wish))
    writer = Writer(session.lm("writer"), session.lm("judge"))
    try:
        personas = await writer.personas(documents, wish.personas)
    except AskError as error:
        raise UserError(f"the model gave no personas ({error}); try another model.") from error
    made = TestSet(units, personas)
    sampler = Sampler(units, seed=wish.seed, multi_hop_share=wish.multi_hop)
    while len(made.filled) < wish.cases:
        drawn: dict[int, Scenario] = {}
        for slot in (slot for slot in range(wish.cases) if slot not in made.filled):
            scenario = sampler.draw(slot, slot % wish.personas)
            if scenario is not None:
                drawn[slot] = scenario
        if not drawn:
            break
        await _fill(made, drawn, writer, session)
    return made


def _units_needed(wish: Wish) -> int:
    """So many that all slots can be filled though some scenarios are rejected."""
    return math.ceil(wish.cases * (1 + wish.multi_hop) * _FOR_REJECTS / MOST_USES)


async def _fill(made: TestSet, drawn: Mapping[int, Scenario], writer: Writer, session: Session) -> None:
    """Write all, then let the gates decide in the order of the slots: which case is the duplicate of which must not
    depend on who answered first."""

    async def write(scenario: Scenario) -> Written | AskError:
        try:
            return await writer.write(scenario, made.personas[scenario.persona])
        except AskError as error:
            return error

    written = await session.each({f"{slot}-{s.scenario_id}": s for slot, s in drawn.items()}, write)
    passed: dict[int, tuple[Scenario, Written]] = {}
    for (slot, scenario), text in zip(drawn.items(), written, strict=True):
        if isinstance(text, AskError):
            made.rejects.append(Reject(slot, scenario, "written", str(text)))
            continue
        others = [*made.questions, *(other.question for _, other in passed.values())]
        failed = failed_gate(scenario, text, others)
        if failed is not None:
            made.rejects.append(Reject(slot, scenario, *failed, text))
        else:
            passed[slot] = (scenario, text)
    await _judge(made, passed, writer, session)


async def _judge(
    made: TestSet, passed: Mapping[int, tuple[Scenario, Written]], writer: Writer, session: Session
) -> None:
    async def judge(case: tuple[Scenario, Written]) -> tuple[str, str] | None:
        scenario, written = case
        try:
            judged = await writer.judge(scenario, written)
        except AskError as error:
            return "answerable", f"the judge failed: {error}"
        if not judged.answerable:
            return "answerable", judged.reason
        if scenario.multi_hop and judged.sufficient_alone:
            return "single_unit", f"unit {judged.sufficient_alone[0]} suffices alone"
        return None

    verdicts = await session.each({f"{slot}-{s.scenario_id}": (s, w) for slot, (s, w) in passed.items()}, judge)
    for (slot, (scenario, written)), failed in zip(passed.items(), verdicts, strict=True):
        if failed is None:
            made.filled[slot] = (scenario, written)
        else:
            made.rejects.append(Reject(slot, scenario, *failed, written))


def as_case(slot: int, scenario: Scenario, written: Written, persona: Persona, params: Mapping[str, Any]) -> EvalCase:
    """The case as the suite reads it; answer and contexts are left to a RAG system."""
    quotes = {
        index: [quote.text for quote in written.quotes if quote.unit == index]
        for index in range(1, len(scenario.units) + 1)
    }
    return EvalCase(
        question=written.question,
        ground_truth_answer=written.answer,
        ground_truth_contexts=[unit.text for unit in scenario.units],
        source_units=[{**unit.to_json(), "quotes": quotes[i]} for i, unit in enumerate(scenario.units, start=1)],
        persona=persona.model_dump(),
        generation_params={
            "id": f"synth-{slot + 1:03}-{scenario.scenario_id}",
            "language": scenario.units[0].language,
            "kind": "multi_hop" if scenario.multi_hop else "single_hop",
            **params,
        },
    )
