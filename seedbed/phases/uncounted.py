"""Calls that nobody counted: a system that asks a model past the ledger must not be called free."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

logger = logging.getLogger("seedbed")

REMEDY = (
    'make its calls with `context.lm("task")` or by the gateway (docs/gateway.md), or give the system calls_per_case=0 '
    "if it calls no model (docs/extending.md)"
)
_warned: set[str] = set()


def counted(usage: Mapping[str, Any], calls_per_case: float, answered: int) -> dict[str, Any]:
    """The account of a generate phase. Where a system gave answers and should have called a model, and no attempt is on
    record, the calls and dollars are unknown, not 0."""
    if not answered or calls_per_case <= 0 or any(usage["outcomes"].values()):
        return dict(usage)
    return {**usage, "calls": None, "list_usd": None, "spent_usd": None}


def warn_uncounted(system: str, answered: int) -> None:
    """Say it once a process and system."""
    if system not in _warned:
        _warned.add(system)
        logger.warning("%s", uncounted_note(system, answered))


def uncounted_note(system: str, answered: int) -> str:
    return (
        f"system {system!r} gave {answered} answers and made no call that the ledger knows: its calls and dollars are "
        f"shown as ?; {REMEDY}"
    )
