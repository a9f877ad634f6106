"""What a cell will cost, before a cent is spent."""

from __future__ import annotations

from dataclasses import dataclass

from seedbed.cell import Cell
from seedbed.lm.prices import price_of
from seedbed.lm.types import Usage
from seedbed.plan import Plan
from seedbed.registry import get_suite

_CHARS_PER_TOKEN = 4
_PROMPT_OVERHEAD = 250
"""Tokens of a DSPy prompt beside its inputs: field descriptions, format, instructions."""
_REPLY_TOKENS = 60


@dataclass(frozen=True, slots=True)
class Estimate:
    calls: int
    tokens_in: int
    tokens_out: int
    usd: float | None

    def __add__(self, other: Estimate) -> Estimate:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Estimate(
            self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, usd
        )

    @property
    def shown_dollars(self) -> str:
        return "price unknown" if self.usd is None else f"${self.usd:.4f}"


def estimate(plan: Plan, cell: Cell) -> Estimate:
    """Calls from the number of cases and what the suite says a case takes; tokens from the length of the inputs."""
    spec, suite = plan.system_spec(cell), get_suite(cell.suite)
    cases = plan.benchmark(cell).test
    per_case = spec.calls_per_case + suite.score_calls_per_case
    calls = round(len(cases) * per_case)
    characters = sum(len(str(value)) for case in cases for value in case.inputs.values())
    evidence = spec.evidence_tokens * len(cases)
    tokens_in = round(per_case * (characters / _CHARS_PER_TOKEN + _PROMPT_OVERHEAD * len(cases) + evidence))
    tokens_out = calls * _REPLY_TOKENS
    price = price_of(plan.model(cell)[1])
    usd = price.cost(Usage(tokens_in, tokens_out)) if price else None
    return Estimate(calls, tokens_in, tokens_out, usd)
