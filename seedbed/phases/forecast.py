"""What a sweep will still take: calls, dollars and time, each as a range. Known answers are told from new ones by a
replay against the ledger; what new ones take comes from stored neighbours, else from what is assumed of a kind of
model."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from seedbed.lm.codec import is_reasoning_model
from seedbed.lm.ledger.database import open_database, sqlite_url
from seedbed.lm.ledger.latencies import latencies
from seedbed.lm.ledger.neighbours import Neighbours, neighbours
from seedbed.lm.ledger.reads import cost_rows, generation_of
from seedbed.lm.prices import price_of, token_cost
from seedbed.lm.prices.price_list import list_entry
from seedbed.lm.probe import COMMAND as PROBE
from seedbed.phases.earlier_cells import earlier_cells
from seedbed.storage.store import Store
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import ModelConfig
from seedbed.sweep.estimate import Estimate, TokenCost, estimate, scoring_calls
from seedbed.sweep.plan import Plan

REPLIES = {"offline": (5, 60, 400), "reasoning": (200, 2500, 16_000), "other": (10, 200, 1500)}
"""Tokens of an answer that are assumed of a kind of model: at least, likely, at most."""
LATENCIES = {"offline": (0.0, 0.01), "reasoning": (3.0, 60.0), "other": (0.3, 10.0)}
"""Seconds of a call, in the same way."""
Took = Mapping[str, Sequence[float]]
"""By model of the config, the seconds of calls that were measured, where any were."""
NOT_MEASURED: Took = {}
_CALLS = (0.5, 2.5)
_INPUT = (0.2, 3.0)
"""How far the number of calls and the length of prompts may be from what a suite declares."""
_MEASURED = (0.8, 1.25)
"""How far what was measured may be from what comes."""


@dataclass(frozen=True, slots=True)
class Range:
    low: float = 0.0
    likely: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def from_share(self, share: float) -> Range:
        """With a least that is no more than a share of it."""
        return Range(self.low * share, self.likely, self.high)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Of a cell, or of a sweep."""

    known_calls: int
    new_calls: Range
    tokens: Range
    usd: Range | None
    """None where a price is unknown."""
    seconds: Range
    basis: str
    """`finished`, `calls no model`, `replayed` against the ledger, or `assumed`; a sum of several is `mixed`."""
    online_usd: Range | None = None
    """What normal calls would cost, where batches answer at another price."""

    def __add__(self, other: Forecast) -> Forecast:
        usd = online = None
        if self.usd is not None and other.usd is not None:
            usd = self.usd + other.usd
            if self.online_usd or other.online_usd:
                online = (self.online_usd or self.usd) + (other.online_usd or other.usd)
        basis = self.basis if self.basis == other.basis else "mixed"
        return Forecast(
            self.known_calls + other.known_calls,
            self.new_calls + other.new_calls,
            self.tokens + other.tokens,
            usd,
            self.seconds + other.seconds,
            basis,
            online,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


NOTHING = Forecast(0, Range(), Range(), Range(), Range(), "finished")


@dataclass(frozen=True)
class SweepForecast:
    cells: Mapping[str, Forecast]
    """By cell id."""
    spent_usd: float
    """What the sweep has spent already, since its last fresh start; it counts for a cap."""
    took: Took = field(default_factory=dict[str, list[float]])

    @property
    def total(self) -> Forecast:
        return total(self.cells.values())


def total(parts: Iterable[Forecast]) -> Forecast:
    found = list(parts)
    return sum(found[1:], start=found[0]) if found else NOTHING


def forecast(plan: Plan, root: Path, *, fresh: bool = False, probes: Path | None = None) -> SweepForecast:
    """Look at everything, call nobody and write nothing. A fresh start can use nothing that is on record. `probes` is
    the ledger of `seedbed doctor`: how long the models took to answer it."""
    store = Store(root)
    url = plan.config.ledger or store.ledger_url
    took = _probed(plan, probes)
    if fresh or not _there(url):
        return SweepForecast(_may_stop(plan, {cell.id: assumed(plan, cell, took) for cell in plan.cells}), 0.0, took)
    engine = open_database(url)
    try:
        plan = replace(plan, generation=generation_of(engine, plan.config.name))
        costs = cost_rows(engine, plan.config.name, plan.generation)
        spent = sum((row["spent_usd"] or 0.0) + row["at_risk_usd"] for row in costs)
        # Calls of the sweep itself say more than a probe.
        own = {name: latencies(engine, plan.config.name, name) for name in plan.config.models}
        took = {name: own[name] or took[name] for name in own}
        earlier = earlier_cells(store, plan)
        history = {
            cell.id: {phase: neighbours(engine, earlier[cell.id], phase) for phase in cell.phases}
            for cell in plan.cells
            if earlier[cell.id]
        }
    finally:
        engine.dispose()
    from seedbed.phases.forecast_replay import replayed  # brings DSPy

    with tempfile.TemporaryDirectory() as scratch:
        found = replayed(plan, root, url, history, took, Path(scratch))
    return SweepForecast(_may_stop(plan, found), spent, took)


def _may_stop(plan: Plan, found: Mapping[str, Forecast]) -> dict[str, Forecast]:
    """At least, contests end at their first look; where something is answered, nothing more may be needed."""
    return {cell: _from_first_look(plan, plan.cell(cell), own) for cell, own in found.items()}


def _from_first_look(plan: Plan, cell: Cell, own: Forecast) -> Forecast:
    looks = plan.looks(cell)
    if looks is None or cell.optimised:
        return own  # a search is made whole, and what share of all calls it has nobody knows
    share = 0.0 if own.known_calls else looks.ends[0] / looks.planned
    return replace(
        own,
        new_calls=own.new_calls.from_share(share),
        tokens=own.tokens.from_share(share),
        usd=own.usd and own.usd.from_share(share),
        seconds=own.seconds.from_share(share),
        online_usd=own.online_usd and own.online_usd.from_share(share),
    )


def _probed(plan: Plan, probes: Path | None) -> dict[str, list[float]]:
    models = plan.config.models
    if probes is None or not probes.exists():
        return {name: [] for name in models}
    engine = open_database(sqlite_url(probes))
    try:
        return {name: latencies(engine, PROBE, model.model, model.provider) for name, model in models.items()}
    finally:
        engine.dispose()


def assumed(plan: Plan, cell: Cell, took: Took = NOT_MEASURED) -> Forecast:
    """From what the suite declares and the kind of the model, where nothing is on record."""
    guess = _guessed(plan, cell, batch=True)
    if not guess.calls:
        return replace(NOTHING, basis="calls no model")
    name, model = plan.resolve(cell).model()
    low, _, high = REPLIES[kind_of(model)]
    least = _CALLS[0] * _own_share(plan, cell)
    calls = Range(guess.calls * least, guess.calls, guess.calls * _CALLS[1])
    sent = Range(guess.tokens_in * _INPUT[0] * least, guess.tokens_in, guess.tokens_in * _INPUT[1])
    got = Range(calls.low * low, guess.tokens_out, calls.high * min(high, model.max_tokens or high))

    def dollars(likely: float | None, *, batch: bool) -> Range | None:
        if likely is None or price_of(model) is None:
            return None
        own = batch and model.service == "batch"
        # At its dearest a search is most of it, at whichever price it is made.
        dear = own and (not cell.optimised or model.is_batched("optimise"))
        low, high = _usd(model, sent.low, got.low, batch=own), _usd(model, sent.high, got.high, batch=dear)
        return Range(low, likely, max(likely, high))

    usd, online = dollars(guess.usd, batch=True), None
    if has_batches(plan, cell):
        online = dollars(_guessed(plan, cell, batch=False).usd, batch=False)
    lasting = seconds(model, calls, sent + got, took.get(name, ()))
    return Forecast(0, calls, sent + got, usd, lasting, "assumed", online)


def has_batches(plan: Plan, cell: Cell) -> bool:
    """Whether batches answer any of a cell's calls."""
    resolved = plan.resolve(cell)
    roles = ("task", *resolved.system_spec.roles, *resolved.score_roles)
    return any(resolved.model(role)[1].service == "batch" for role in roles)


def _guessed(plan: Plan, cell: Cell, *, batch: bool) -> Estimate:
    """With batches at their price, or as if all were normal calls."""

    def cost(phase: str) -> TokenCost:
        return lambda m, sent, got: token_cost(m, sent, got, batch=batch and m.is_batched(phase))

    return estimate(plan, cell, cost("generate"), lambda model: REPLIES[kind_of(model)][1], cost("optimise"))


def _own_share(plan: Plan, cell: Cell) -> float:
    """The least share of its calls that a cell pays for itself, where cells that may ask the same share the answers:
    variants of one system, at temperature 0 also its seeds, and judges of the same answers; and where cases share what
    a helper at temperature 0 said, as of a document that was translated once."""
    resolved = plan.resolve(cell)
    alike, system = cell.group[:3], (*cell.group[:3], resolved.system_name)
    sharing = _sharing(plan)
    twins = sharing[(*system, cell.seed) if resolved.model()[1].temperature > 0 else system]
    own, judged = resolved.calls_per_case, scoring_calls(plan, cell)
    if not own + judged:
        return 1.0
    helped = any(resolved.model(role)[1].temperature == 0 for role in resolved.system_spec.roles)
    sure = min(1.0, own) if helped else own
    return (sure / twins + judged / sharing[alike]) / (own + judged)


@lru_cache(maxsize=2)
def _sharing(plan: Plan) -> Counter[tuple[str | int, ...]]:
    """How many cells of a plan have a benchmark and model in common; with these a system; with these a seed."""
    found: Counter[tuple[str | int, ...]] = Counter()
    for cell in plan.cells:
        system = (*cell.group[:3], plan.resolve(cell).system_name)
        found.update((cell.group[:3], system, (*system, cell.seed)))
    return found


def seconds(model: ModelConfig, calls: Range, tokens: Range, measured: Sequence[float]) -> Range:
    """From the model's limits, and from the time that calls take. How long a batch takes nobody says beforehand."""
    if model.service == "batch":
        return Range()
    low, high = LATENCIES[kind_of(model)]
    if measured:
        ordered = sorted(measured)
        low, high = ordered[len(ordered) // 4], ordered[(9 * len(ordered)) // 10]

    def of(number: float, amount: float, latency: float) -> float:
        bounds = [number * latency / (model.limits.start or model.limits.concurrency)]
        bounds += [60 * number / model.limits.rpm] if model.limits.rpm else []
        bounds += [60 * amount / model.limits.tpm] if model.limits.tpm else []
        return max(bounds)

    middle = (low + high) / 2
    return Range(of(calls.low, tokens.low, low), of(calls.likely, tokens.likely, middle),
                 of(calls.high, tokens.high, high))  # fmt: skip


def kind_of(model: ModelConfig) -> str:
    """`offline`, `reasoning` (such models answer with thousands of tokens) or `other`."""
    if model.simulated:
        return "offline"
    entry = list_entry(model.model) or {}
    return "reasoning" if is_reasoning_model(model.model) or entry.get("supports_reasoning") else "other"


def measured_range(likely: float, history: Neighbours, samples: float) -> Range:
    """A total of so many samples like those on record."""
    doubt = 2 * history.spread / max(1.0, samples) ** 0.5
    return Range(likely * _MEASURED[0] * max(0.0, 1 - doubt), likely, likely * _MEASURED[1] * (1 + doubt))


def _usd(model: ModelConfig, sent: float, got: float, *, batch: bool) -> float:
    return token_cost(model, round(sent), round(got), batch=batch) or 0.0


def _there(url: str) -> bool:
    """A ledger that is not there is not made; one on a server is taken to be there."""
    return not url.startswith("sqlite") or Path(url.partition(":///")[2]).exists()
