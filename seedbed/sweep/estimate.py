"""What a cell will cost, before a cent is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.suite import Case
from seedbed.sweep.cell import Cell
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.optimizers import Budget, SearchSize
from seedbed.sweep.plan import Plan

_CHARS_PER_TOKEN = 4
_PROMPT_OVERHEAD = 250
"""Tokens of a DSPy prompt beside its inputs: field descriptions, format, instructions."""
_IMAGE_TOKENS = 1000
_REFLECTION_TOKENS = 1500
"""Tokens of a prompt with an instruction and a few examples to reflect on."""

ReplyTokens = Callable[[ModelConfig], int]
"""How long an answer of a model is likely to be."""
TokenCost = Callable[[ModelConfig, int, int], float | None]
"""Dollars of so many tokens in and out by a model; None where its price is unknown."""


@dataclass(frozen=True, slots=True)
class _Costs:
    dollars: TokenCost
    replies: ReplyTokens


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


def _short_replies(_model: ModelConfig) -> int:
    return 60


def estimate(
    plan: Plan, cell: Cell, cost: TokenCost, replies: ReplyTokens = _short_replies, search_cost: TokenCost | None = None
) -> Estimate:
    """What the optimise phase, if there is one, and the evaluation will take if nothing is found in the ledger.
    `search_cost` is for optimizers, where they pay another price."""
    per_case = plan.resolve(cell).calls_per_case + scoring_calls(plan, cell)
    budget = _budget(plan, cell)
    longer = budget.longer_prompts if budget else 1.0
    costs = _Costs(cost, replies)
    tested = _calls(plan, cell, costs, plan.benchmark(cell).test, per_case, longer)
    if budget is None:
        return tested
    return tested + _search(plan, cell, _Costs(search_cost or cost, replies), budget, per_case)


def scoring_calls(plan: Plan, cell: Cell) -> float:
    """Model calls that the scores of a case take."""
    resolved = plan.resolve(cell)
    suite = resolved.suite
    judged = any(role in resolved.score_roles for role in suite.score_roles) or not suite.score_roles
    added = sum(scorer.spec.calls_per_case for scorer in resolved.scorers)
    return (suite.score_calls_per_case if judged else 0.0) + added


def _calls(plan: Plan, cell: Cell, costs: _Costs, cases: Sequence[Case], per_case: float, longer: float) -> Estimate:
    """Calls from the number of cases and what the suite says a case takes; tokens from the length of the inputs."""
    calls = round(len(cases) * per_case)
    characters = sum(_length(value) for case in cases for value in case.inputs.values())
    evidence = plan.resolve(cell).system_spec.evidence_tokens * len(cases)
    shown = characters / _CHARS_PER_TOKEN + _PROMPT_OVERHEAD * len(cases) + evidence
    return _priced(plan, cell, costs, "task", calls, round(per_case * shown * longer))


def _length(value: Any) -> int:
    """Of a text, or about what an image costs where it is a data URL."""
    text = str(value)
    return _IMAGE_TOKENS * _CHARS_PER_TOKEN if text.startswith("data:image/") else len(text)


def _search(plan: Plan, cell: Cell, costs: _Costs, budget: Budget, per_case: float) -> Estimate:
    """Every scored example at the price of an average val case, and the reflections."""
    val = plan.benchmark(cell).val
    once = _calls(plan, cell, costs, val, per_case, budget.longer_prompts)
    scored = budget.metric_calls * budget.fresh / max(1, len(val))
    asked = _priced(plan, cell, costs, "task", round(once.calls * scored), round(once.tokens_in * scored))
    reflected = budget.reflections * _REFLECTION_TOKENS
    return asked + _priced(plan, cell, costs, "reflection", budget.reflections, reflected)


def _budget(plan: Plan, cell: Cell) -> Budget | None:
    resolved = plan.resolve(cell)
    spec, system = resolved.optimizer_spec, resolved.system_spec
    if spec is None:
        return None
    benchmark = plan.benchmark(cell)
    predictors = system.predictors or max(1, round(system.calls_per_case))
    size = len(benchmark.train), len(benchmark.val), predictors
    return spec.budget(SearchSize(resolved.optimizer_name, resolved.optimizer_options, *size))


def _priced(plan: Plan, cell: Cell, costs: _Costs, role: str, calls: int, tokens_in: int) -> Estimate:
    model = plan.resolve(cell).model(role)[1]
    tokens_out = calls * costs.replies(model)
    return Estimate(calls, tokens_in, tokens_out, costs.dollars(model, tokens_in, tokens_out))
