"""What goes into the ledger and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seedbed.lm.types import NOBODY, Answerer, Usage

Outcome = Literal["paid", "reused", "failed", "lost"]


@dataclass(frozen=True, slots=True)
class CallScope:
    """For whom a call is made. Bound to each LM when a phase starts."""

    sweep: str
    cell: str
    phase: str
    role: str
    execution: str
    model: str
    """The model's name in the config."""
    seed: int
    generation: int = 0
    """Which fresh start the sweep is in. Stored responses of an earlier one are not used."""
    draws: str = ""
    """Whose random draws this caller shares. At a temperature above 0, callers of the same seed reuse each other's
    answers to equal requests only if this is equal too; "" is everybody's. At temperature 0 it does not matter."""


@dataclass(frozen=True, slots=True)
class Cap:
    """A dollar limit on everything recorded under a scope ("sweep:NAME", "cell:ID")."""

    scope: str
    max_usd: float


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer is known: a `reused` row has been written."""

    body: bytes
    usage: Usage
    answerer: Answerer = NOBODY


@dataclass(frozen=True, slots=True)
class BatchSeat:
    """Where an attempt waits that is to be answered by a batch."""

    lane: str
    body: bytes
    """What is sent for it."""


@dataclass(frozen=True, slots=True)
class Begin:
    """An attempt about to be made, unless its answer is known already."""

    scope: CallScope
    key: str
    number: int
    sample: str | None
    request: bytes
    reserved_usd: float | None
    caps: tuple[Cap, ...]
    may_call: bool = True
    """False in a replay: look only."""
    known: Stored | None = None
    """The answer, where a call of this process has just brought it: only the `reused` row is still to be written."""
    seat: BatchSeat | None = None
    """Set where no call is to be made: a batch will answer."""


@dataclass(frozen=True, slots=True)
class Granted:
    """Go ahead: the attempt is on record as in flight."""

    attempt_id: int


@dataclass(frozen=True, slots=True)
class Busy:
    """Another process has this very request in flight."""


@dataclass(frozen=True, slots=True)
class InBatch:
    """This very request waits in a batch, whoever put it there; what comes of it is that attempt's end."""

    attempt_id: int


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The call could pass a cap; nothing was recorded. While others hold reservations it may still fit later."""

    cap: Cap
    used_usd: float
    reserved_usd: float


@dataclass(frozen=True, slots=True)
class Unknown:
    """A replay met a request whose answer is not on record."""


BeginResult = Stored | Granted | Busy | InBatch | OverBudget | Unknown


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt ended."""

    attempt_id: int
    begin: Begin
    outcome: Outcome
    usage: Usage | None
    spent_usd: float | None
    list_usd: float | None
    at_risk_usd: float
    latency_s: float | None
    """None of an answer of a batch: how long that took says nothing of the model."""
    response: bytes | None
    """Stored for reuse; None for failures and empty answers, which must be asked again."""
    error_class: str | None = None
    error: str | None = None
    answerer: Answerer = NOBODY
    """Who gave the answer, where one came."""
