"""From a row of a batch's results to the end of its attempt."""

from __future__ import annotations

import orjson

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.ends import failed_end
from seedbed.lm.fatal import advice
from seedbed.lm.ledger import End
from seedbed.lm.ledger.batches import OpenRow
from seedbed.lm.prices import ModelPrice
from seedbed.lm.tokens import billed_usage, usage_of
from seedbed.lm.types import JsonDict
from seedbed.lm.usage import who_answered
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig


def answered(
    row: OpenRow, reply: JsonDict, request: JsonDict, model: ModelConfig, price: ModelPrice | None
) -> tuple[End, bytes | ProviderError]:
    """The end of an attempt that has a reply, and what its caller is told: the reply, or that it cannot be used."""
    try:
        codec.decode(reply, model.model)
    except ProviderError as error:
        told = billed_usage(request, reply)
        cost = None if told is None or price is None else price.cost(told, batch=True)
        return failed_end(row.attempt_id, row.begin, error, told, cost, None), error
    usage = usage_of(request, reply)
    cost = price.cost(usage, batch=True) if price else None
    # A key that an endpoint quotes is kept nowhere.
    said = redact(orjson.dumps(reply).decode()).encode()
    kept = None if codec.is_empty(reply) else said
    who = who_answered(reply, model.provider)
    return End(row.attempt_id, row.begin, "paid", usage, cost, cost, 0.0, None, response=kept, answerer=who), said


def refused(row: OpenRow, error: ProviderError) -> End:
    """The end of an attempt without a reply."""
    error.message = advice(error)
    return failed_end(row.attempt_id, row.begin, error, None, 0.0, None)


def lost(row: OpenRow, why: str) -> End:
    """The end of an attempt of which nobody can know how it ended: it may have been billed."""
    at_risk = row.begin.reserved_usd or 0.0
    return End(row.attempt_id, row.begin, "lost", None, 0.0, 0.0, at_risk, None, response=None, error_class="BatchGone",
               error=redact(why))  # fmt: skip
