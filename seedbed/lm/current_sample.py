"""Which sample is being worked on, for the ledger."""

from __future__ import annotations

from contextvars import ContextVar

CURRENT_SAMPLE: ContextVar[tuple[str | None, int]] = ContextVar("seedbed_sample", default=(None, 0))
"""Id of the sample, and which honest repeat of it this is."""
