"""The part of a forecast that asks systems and scorers, with answers from the ledger alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from seedbed.lm.ledger.neighbours import Neighbours
from seedbed.lm.looking import LookingRuntime, Seen
from seedbed.lm.prices import token_cost
from seedbed.phases.forecast import (
    NOT_MEASURED,
    NOTHING,
    REPLIES,
    Forecast,
    Range,
    Took,
    assumed,
    kind_of,
    measured_range,
    seconds,
    total,
)
from seedbed.phases.looks import unfinished
from seedbed.phases.replay import Replayed, replay
from seedbed.storage.store import Store
from seedbed.sweep.cell import Cell
from seedbed.sweep.estimate import scoring_calls
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.plan import Plan

History = Mapping[str, Mapping[str, Neighbours]]
"""By cell id and phase."""
_Ends = tuple[tuple[float, float], tuple[float, float]]
"""Tokens in and out, at least and at most."""


def replayed(plan: Plan, root: Path, url: str, history: History, took: Took, scratch: Path) -> dict[str, Forecast]:
    """By cell id. A request that several cells would make is new once."""
    asked: set[str] = set()
    found: dict[str, Forecast] = {}
    growing = unfinished(Store(root), plan)
    with closing(LookingRuntime(url, plan.config.models)) as looking:
        for cell in plan.cells:
            own = scratch / cell.id[:16]
            own.mkdir()
            seen = replay(plan, root, looking, cell, own, grows=cell.id in growing)
            found[cell.id] = _of_cell(plan, cell, seen, history.get(cell.id, {}), asked, took)
    return found


def _of_cell(
    plan: Plan,
    cell: Cell,
    seen: Replayed,
    history: Mapping[str, Neighbours],
    asked: set[str],
    took: Took = NOT_MEASURED,
) -> Forecast:
    if seen.unknown and seen.unknown[0] in ("optimise", "generate"):
        measured = [_from_history(plan, history[phase], took, phase) for phase in seen.unknown if phase in history]
        return total(measured) if measured and measured[0].new_calls.likely else assumed(plan, cell, took)
    parts = [_known(seen.seen)]
    for phase in ("generate", "score"):
        new = [call for call in seen.seen if call.phase == phase and not call.known and call.key not in asked]
        asked |= {call.key for call in new}
        if new:
            parts.append(_new(plan, cell, phase, _firsts(new), seen.seen, history.get(phase), took))
    cut = seen.cut.get("generate", 0)
    if cut and "score" in history and history["score"].samples:
        # What was not answered yet could not be scored either.
        share = cut / len(plan.benchmark(cell).test)
        parts.append(_from_history(plan, history["score"], took, "score", share))
    elif cut:
        parts.append(_scoring(plan, cell, cut, took))
    return total(parts) if len(parts) > 1 or seen.seen else NOTHING


def _known(seen: Sequence[Seen]) -> Forecast:
    known = len({call.key for call in seen if call.known})
    return Forecast(known, Range(), Range(), Range(), Range(), "replayed")


def _firsts(new: Sequence[Seen]) -> dict[str | None, Seen]:
    """By sample, its first call that is not on record."""
    found: dict[str | None, Seen] = {}
    for call in new:
        found.setdefault(call.sample, call)
    return found


def _new(
    plan: Plan, cell: Cell, phase: str, firsts: Mapping[str | None, Seen], seen: Sequence[Seen],
    history: Neighbours | None, took: Took,
) -> Forecast:  # fmt: skip
    """The calls of samples from their first unknown one on."""
    before = Counter(call.sample for call in seen if call.phase == phase and call.known)
    resolved = plan.resolve(cell)
    declared = resolved.calls_per_case if phase == "generate" else resolved.suite.score_calls_per_case or 1.0
    calls: dict[str, float] = defaultdict(float)
    sent: dict[str, float] = defaultdict(float)
    got: dict[str, float] = defaultdict(float)
    known_kind = history is not None and bool(history.samples)
    for sample, first in firsts.items():
        taken = history.of(sample) if history is not None else {}
        usual = sum(t.calls for t in taken.values()) or declared
        left = max(1.0, usual - before[sample])
        if not taken:
            calls[first.model] += left
            sent[first.model] += left * first.tokens_in
            got[first.model] += left * REPLIES[kind_of(plan.config.models[first.model])][1]
        for model, t in taken.items():
            share = left / usual
            calls[model] += t.calls * share
            sent[model] += t.tokens_in * share
            got[model] += t.tokens_out * share
    return _summed(plan, phase, calls, sent, got, history if known_kind else None, took, declared, len(firsts))


def _summed(
    plan: Plan, phase: str, calls: Mapping[str, float], sent: Mapping[str, float], got: Mapping[str, float],
    history: Neighbours | None, took: Took, declared: float, samples: int,
) -> Forecast:  # fmt: skip
    parts: list[Forecast] = []
    for name, number in calls.items():
        model = plan.config.models[name]
        if history is not None:
            exact = all(t.calls == 1 for taken in history.samples.values() for t in taken.values())
            # Steps behind the first new one may turn out to be on record after all.
            least = 1.0 if exact else min(1.0, samples / sum(calls.values()))
            counts = Range(number, number, number) if exact else measured_range(number, history, samples)
            counts = counts.from_share(least)
            tokens = measured_range(sent[name] + got[name], history, samples).from_share(least)
            ends = None
        else:
            low, _, high = REPLIES[kind_of(model)]
            high = min(high, model.max_tokens or high)
            counts = Range(number, number, number) if declared == 1 else Range(samples, number, 3 * number)
            tokens = Range(
                counts.low * low + 0.5 * sent[name], sent[name] + got[name], 3 * sent[name] + counts.high * high
            )
            least = 1.0
            fewest = (0.5 * counts.low / number * sent[name], counts.low * low)
            ends = (fewest, (3.0 * sent[name], counts.high * high))

        def dollars(
            m: ModelConfig, *, batch: bool, name: str = name, least: float = least, ends: _Ends | None = ends
        ) -> Range | None:
            usd = token_cost(m, round(sent[name]), round(got[name]), batch=batch)
            if usd is None:
                return None
            if history is not None:
                return measured_range(usd, history, samples).from_share(least)
            low, high = (token_cost(m, round(s), round(g), batch=batch) or 0.0 for s, g in ends or ())
            return Range(min(low, usd), usd, max(high, usd))

        known = history.latencies if history else ()
        lasting = seconds(model, counts, tokens, known or took.get(name, ()))
        batch = model.is_batched(phase)
        online = dollars(model, batch=False) if batch else None
        parts.append(Forecast(0, counts, tokens, dollars(model, batch=batch), lasting, "replayed", online))
    return total(parts)


def _from_history(plan: Plan, history: Neighbours, took: Took, phase: str, share: float = 1.0) -> Forecast:
    """A whole phase, or a share of it, as it went before."""
    calls: dict[str, float] = defaultdict(float)
    sent: dict[str, float] = defaultdict(float)
    got: dict[str, float] = defaultdict(float)
    for taken in history.samples.values():
        for model, t in taken.items():
            if model in plan.config.models:
                calls[model] += t.calls * share
                sent[model] += t.tokens_in * share
                got[model] += t.tokens_out * share
    return _summed(plan, phase, calls, sent, got, history, took, 0.0, max(1, round(len(history.samples) * share)))


def _scoring(plan: Plan, cell: Cell, samples: int, took: Took) -> Forecast:
    """Calls of judges for answers that are not there yet, as the suite declares them."""
    per_case = scoring_calls(plan, cell)
    if not per_case:
        return NOTHING
    whole = assumed(plan, cell, took)
    part = samples / len(plan.benchmark(cell).test) * per_case / (plan.resolve(cell).calls_per_case + per_case)

    def scaled(r: Range) -> Range:
        return Range(r.low * part, r.likely * part, r.high * part)

    usd = None if whole.usd is None else scaled(whole.usd)
    online = None if whole.online_usd is None else scaled(whole.online_usd)
    return Forecast(0, scaled(whole.new_calls), scaled(whole.tokens), usd, scaled(whole.seconds), "assumed", online)
