"""The systems by name: the agents, the memory agent with one part taken away, and traces made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import PhaseContext
from seedbed.suites.finance_dialog.agents.base import M1_IGNORED, own_turn
from seedbed.suites.finance_dialog.agents.memory_agent import MemoryAgent
from seedbed.suites.finance_dialog.agents.play import dialog_status
from seedbed.suites.finance_dialog.options import GivenOptions, MemoryOptions
from seedbed.suites.finance_dialog.traces import read_traces


def _without(part: str) -> Callable[[PhaseContext, MemoryOptions], MemoryAgent]:
    def build(context: PhaseContext, options: MemoryOptions) -> MemoryAgent:
        return MemoryAgent(context, options.model_copy(update={part: False}))

    return build


without_short_term = _without("short_term")
without_long_term = _without("long_term")
without_profile = _without("profile")
without_risk_template = _without("risk_template")
without_compliance_guard = _without("compliance_guard")


class Given:
    """Gives back what a trace file holds of a dialogue. One it does not hold is an error of that dialogue."""

    def __init__(self, context: PhaseContext, options: GivenOptions) -> None:
        self._path = options.path
        self._traces = {str(trace["dialog_id"]): trace for trace in read_traces(options.path)}
        self._m1_handling = M1_IGNORED if options.ignore_memory_keys else None

    async def __call__(
        self, dialog_id: str, session_id: str, user_id: str, user_turns: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        trace = self._traces.get(dialog_id)
        if trace is None:
            raise UserError(f"{self._path}: holds no dialogue {dialog_id!r}.")
        turns = [own_turn(turn) for turn in trace["turns"]]
        return {
            "dialog_id": dialog_id,
            "session_id": trace.get("session_id") or session_id,
            "user_id": trace.get("user_id") or user_id,
            "dialog_status": dialog_status(turns),
            "m1_handling": self._m1_handling or trace.get("m1_handling"),
            "turns": turns,
        }
