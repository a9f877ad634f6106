"""What a cell will cost, before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.cell import Cell
from seedbed.lm.prices import price_of
from seedbed.lm.types import Usage
from seedbed.optimizers import Budget, Task
from seedbed.plan import Plan
from seedbed.registry import get_suite
from seedbed.suite import Case

_CHARS_PER_TOKEN = 4
_PROMPT_OVERHEAD = 250
"""Tokens of a DSPy prompt beside its inputs: field descriptions, format, instructions."""
_REPLY_TOKENS = 60
_REFLECTION_TOKENS = 1500
"""Tokens of a prompt with an instruction and a few examples to reflect on."""


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
    """What the optimise phase, if there is one, and the evaluation will take if nothing is found in the ledger."""
    spec, suite = plan.system_spec(cell), get_suite(cell.suite)
    judged = bool(plan.score_roles(cell)) or not suite.score_roles
    per_case = spec.calls_per_case + (suite.score_calls_per_case if judged else 0.0)
    budget = _budget(plan, cell)
    longer = budget.longer_prompts if budget else 1.0
    tested = _calls(plan, cell, plan.benchmark(cell).test, per_case, longer)
    return tested if budget is None else tested + _search(plan, cell, budget, per_case)


def _calls(plan: Plan, cell: Cell, cases: Sequence[Case], per_case: float, longer: float) -> Estimate:
    """Calls from the number of cases and what the suite says a case takes; tokens from the length of the inputs."""
    calls = round(len(cases) * per_case)
    characters = sum(len(str(value)) for case in cases for value in case.inputs.values())
    evidence = plan.system_spec(cell).evidence_tokens * len(cases)
    shown = characters / _CHARS_PER_TOKEN + _PROMPT_OVERHEAD * len(cases) + evidence
    return _priced(plan, cell, "task", calls, round(per_case * shown * longer))


def _search(plan: Plan, cell: Cell, budget: Budget, per_case: float) -> Estimate:
    """Every scored example at the price of an average val case, and the reflections."""
    val = plan.benchmark(cell).val
    once = _calls(plan, cell, val, per_case, budget.longer_prompts)
    scored = budget.metric_calls * budget.fresh / max(1, len(val))
    asked = _priced(plan, cell, "task", round(once.calls * scored), round(once.tokens_in * scored))
    reflected = budget.reflections * _REFLECTION_TOKENS
    return asked + _priced(plan, cell, "reflection", budget.reflections, reflected)


def _budget(plan: Plan, cell: Cell) -> Budget | None:
    spec = plan.optimizer_spec(cell)
    if spec is None:
        return None
    benchmark, system = plan.benchmark(cell), plan.system_spec(cell)
    predictors = system.predictors or max(1, round(system.calls_per_case))
    name, options = plan.optimizer(cell).name, plan.optimizer_options(cell)
    return spec.budget(Task(name, options, len(benchmark.train), len(benchmark.val), predictors))


def _priced(plan: Plan, cell: Cell, role: str, calls: int, tokens_in: int) -> Estimate:
    tokens_out = calls * _REPLY_TOKENS
    price = price_of(plan.model(cell, role)[1])
    return Estimate(calls, tokens_in, tokens_out, price.cost(Usage(tokens_in, tokens_out)) if price else None)
