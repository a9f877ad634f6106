"""How attempts end that brought no usable answer."""

from __future__ import annotations

from seedbed.errors import ProviderError
from seedbed.lm.ledger import Begin, End
from seedbed.lm.ledger.repair import NOT_SENT
from seedbed.lm.types import Usage
from seedbed.storage.redact import redact


def unsent_end(attempt_id: int, begin: Begin) -> End:
    """It was on record and went to nobody."""
    return End(attempt_id, begin, "failed", None, 0.0, 0.0, 0.0, 0.0, response=None, error_class=NOT_SENT)


def failed_end(
    attempt_id: int, begin: Begin, error: ProviderError, usage: Usage | None, cost: float | None, took: float | None
) -> End:
    """A reply that told its tokens was billed for them, however useless it is: `cost` is theirs."""
    spent = 0.0 if usage is None else cost
    at_risk = (begin.reserved_usd or 0.0) if error.maybe_billed and usage is None else 0.0
    said = redact(error.message)
    return End(
        attempt_id, begin, "failed", usage, spent, 0.0, at_risk, took, response=None, error_class=error.kind, error=said
    )
