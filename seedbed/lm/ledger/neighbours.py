"""What calls of a kind have taken so far: the samples of cells that were asked before."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading

_a = schema.attempts
_CELLS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Taken:
    """What one sample took of one model."""

    calls: float
    tokens_in: float
    tokens_out: float


@dataclass(frozen=True)
class Neighbours:
    """By sample and model of the config, in one phase of equal systems, benchmarks and models."""

    samples: Mapping[str, Mapping[str, Taken]]
    latencies: Sequence[float]

    def of(self, sample: str | None) -> Mapping[str, Taken]:
        """What this very sample took before; else what the mean sample did."""
        found = self.samples.get(sample) if sample else None
        return found or self.mean()

    def mean(self) -> Mapping[str, Taken]:
        models = {model for taken in self.samples.values() for model in taken}
        n = len(self.samples)
        return {
            model: Taken(*(sum(getattr(t[model], name) for t in self.samples.values() if model in t) / n
                           for name in ("calls", "tokens_in", "tokens_out")))
            for model in models
        }  # fmt: skip

    @property
    def spread(self) -> float:
        """The standard deviation of a sample's tokens, as a share of their mean."""
        totals = [sum(t.tokens_in + t.tokens_out for t in taken.values()) for taken in self.samples.values()]
        mean = statistics.fmean(totals) if totals else 0.0
        return statistics.stdev(totals) / mean if len(totals) > 1 and mean else 0.0


def neighbours(engine: Engine, cells: Sequence[str], phase: str) -> Neighbours:
    """Each distinct request of a sample counts once a cell; over cells (seeds, earlier versions) the mean is taken."""
    query = (
        select(_a.c.cell, _a.c.sample, _a.c.model, _a.c.key, _a.c.outcome, _a.c.tokens_in, _a.c.tokens_out,
               _a.c.latency_s)
        .where(_a.c.phase == phase, _a.c.outcome.in_(("paid", "reused")))
    )  # fmt: skip
    calls: dict[tuple[str, str], dict[str, dict[str, tuple[int, int]]]] = defaultdict(lambda: defaultdict(dict))
    latencies: list[float] = []
    with reading(engine) as connection:
        for at in range(0, len(cells), _CELLS_AT_ONCE):
            for row in connection.execute(query.where(_a.c.cell.in_(cells[at : at + _CELLS_AT_ONCE]))):
                calls[row.sample or "", row.model][row.cell][row.key] = (row.tokens_in, row.tokens_out)
                if row.outcome == "paid" and row.latency_s is not None:
                    latencies.append(row.latency_s)
    samples: dict[str, dict[str, Taken]] = defaultdict(dict)
    for (sample, model), by_cell in calls.items():
        n = len(by_cell)
        own = [tokens for keys in by_cell.values() for tokens in keys.values()]
        samples[sample][model] = Taken(len(own) / n, sum(t for t, _ in own) / n, sum(t for _, t in own) / n)
    return Neighbours(samples, latencies)
