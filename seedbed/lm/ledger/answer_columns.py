"""What an answer used and who gave it, as columns of attempts and of stored responses."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import ColumnElement, case

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.records import Stored
from seedbed.lm.types import Answerer, Usage
from seedbed.lm.usage import rare_fields, with_rare_fields

NO_ANSWER: Mapping[str, Any] = {
    **dict.fromkeys(("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "tokens_written", "usage_more")),
    **dict.fromkeys(("answered_by", "fingerprint", "provider", "service_tier")),
    "estimated": False,
}


def answer_columns(usage: Usage, answerer: Answerer) -> dict[str, Any]:
    more = rare_fields(usage)
    return {
        "tokens_in": usage.input,
        "tokens_out": usage.output,
        "tokens_cached": usage.cached,
        "tokens_reasoning": usage.reasoning,
        "tokens_written": usage.written,
        "usage_more": orjson.dumps(more).decode() if more else None,
        "answered_by": answerer.model,
        "fingerprint": answerer.fingerprint,
        "provider": answerer.provider,
        "service_tier": answerer.service_tier,
        "estimated": usage.estimated,
    }


def was_cut() -> ColumnElement[int]:
    """1 for an attempt whose answer ended because no more tokens were allowed, else 0."""
    return case((schema.attempts.c.usage_more.like('%"cut":true%'), 1), else_=0)


def stored_answer(row: Mapping[str, Any]) -> Stored:
    """The answer that a row of `responses` holds."""
    usage = Usage(
        row["tokens_in"],
        row["tokens_out"],
        row["tokens_cached"],
        row["tokens_reasoning"],
        bool(row["estimated"]),
        row["tokens_written"] or 0,  # rows of older ledgers have none
    )
    if row["usage_more"]:
        usage = with_rare_fields(usage, orjson.loads(row["usage_more"]))
    who = Answerer(row["answered_by"], row["fingerprint"], row["provider"], row["service_tier"])
    return Stored(zlib.decompress(row["body"]), usage, who)
