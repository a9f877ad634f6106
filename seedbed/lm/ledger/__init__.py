"""The ledger: the durable record of every LM attempt. All token and cost figures come from it."""

from seedbed.lm.ledger.records import (
    Begin,
    BeginResult,
    Busy,
    CallScope,
    Cap,
    End,
    Granted,
    Outcome,
    OverBudget,
    Stored,
    Unknown,
)
from seedbed.lm.ledger.writer import Ledger

__all__ = [
    "Begin",
    "BeginResult",
    "Busy",
    "CallScope",
    "Cap",
    "End",
    "Granted",
    "Ledger",
    "Outcome",
    "OverBudget",
    "Stored",
    "Unknown",
]
