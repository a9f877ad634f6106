"""A runtime that only looks: it answers from the ledger what is there, calls nobody and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

import orjson
from sqlalchemy import Engine, select

from seedbed.errors import ProviderError
from seedbed.lm.attempts import Query
from seedbed.lm.ledger import Ledger, Stored, schema
from seedbed.lm.ledger.answer_columns import stored_answer
from seedbed.lm.ledger.database import open_database, reading
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.config import ModelConfig

T = TypeVar("T")

_r = schema.responses


@dataclass(frozen=True, slots=True)
class Seen:
    """A call that a system would make."""

    cell: str
    phase: str
    sample: str | None
    role: str
    model: str
    key: str
    known: bool
    tokens_in: int
    """Those on record, or a likely number."""
    tokens_out: int | None
    """None where the answer is not on record."""


class _ReadOnly:
    """What a runtime asks of a ledger beside attempts."""

    peers = 1
    known_from = 0.0

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def close(self) -> None:
        self.engine.dispose()


class LookingRuntime(LMRuntime):
    """Its `attempt` finds an answer or fails; `seen` says what was asked."""

    def __init__(self, ledger_url: str, models: Mapping[str, ModelConfig]) -> None:
        self.seen: list[Seen] = []
        super().__init__(ledger_url, models)

    def _open_ledger(self, url: str, *, store_bodies: bool) -> Ledger:
        return cast("Ledger", _ReadOnly(open_database(url)))

    async def attempt(self, query: Query[T]) -> T:
        scope = query.binding.scope
        found = self._find(query.attempt.key, scope.generation)
        sizes = (found.usage.input, found.usage.output) if found else (query.size.likely, None)
        self.seen.append(
            Seen(scope.cell, scope.phase, query.sample, scope.role, scope.model, query.attempt.key,
                 found is not None, *sizes)
        )  # fmt: skip
        if found is None:
            raise ProviderError("invalid_request", "not in the ledger yet")
        return query.kind.read(orjson.loads(found.body))

    def _find(self, key: str, generation: int) -> Stored | None:
        with reading(self.ledger.engine) as connection:
            row = (
                connection.execute(select(_r).where(_r.c.key == key, _r.c.generation >= generation)).mappings().first()
            )
        return stored_answer({**row}) if row is not None else None
