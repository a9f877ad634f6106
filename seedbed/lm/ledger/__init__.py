"""The ledger: the durable record of every LM attempt. All token and cost figures come from it."""

from seedbed.lm.ledger.records import (
    BatchSeat,
    Begin,
    BeginResult,
    Busy,
    CallScope,
    Cap,
    End,
    Granted,
    InBatch,
    Outcome,
    OverBudget,
    Stored,
    Unknown,
)
from seedbed.lm.ledger.writer import Ledger

__all__ = [
    "BatchSeat",
    "Begin",
    "BeginResult",
    "Busy",
    "CallScope",
    "Cap",
    "End",
    "Granted",
    "InBatch",
    "Ledger",
    "Outcome",
    "OverBudget",
    "Stored",
    "Unknown",
]
