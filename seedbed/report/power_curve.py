"""What n samples can show: a curve a contest, from the spread that the sweep itself has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from seedbed.analysis.planned import ALPHA, Pilot, pilot
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.system_values import common_seeds, values_of
from seedbed.report.canvas import Plot
from seedbed.report.plots import Curve, curves_plot

_STEPS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
"""Multiples of the samples there are."""
_LEAST = 5


@dataclass(frozen=True)
class Spread:
    """A contest's spread, at the seeds that were run."""

    label: str
    n: int
    pilot: Pilot
    seeds: int


def table_spreads(table: ScoreTable) -> list[Spread]:
    """Of every contest of a table in its first metric; none where that is a figure of the whole cell."""
    import numpy as np

    metric = table.declared[0]
    if metric.name not in table.means:
        return []
    base, found = values_of(table, table.baseline), list[Spread]()
    for label in table.values:
        own = values_of(table, label)
        if label == table.baseline:
            continue
        made = own.made_by_seed or base.made_by_seed
        seeds = common_seeds(own, base)
        if made and len(seeds) < 2:
            continue
        # Where seeds make no other system, the means over those that were run show the spread that counts.
        sides = [side.seeds(seeds)[:, :, 0] if made else side.values[:, :1] for side in (own, base)]
        known = ~np.isnan(sides[0] - sides[1]).all(axis=1)
        clusters = table.clusters[known].tolist()
        if len(set(clusters)) >= 2:
            seen = pilot(sides[0][known], sides[1][known], clusters=clusters, seed_changes_system=made)
            found.append(Spread(label, int(known.sum()), seen, len(seeds) if made else 1))
    return found


def power_plot(suite: str, metric: str, listed: Mapping[str, Sequence[Spread]]) -> Plot | None:
    """A panel a benchmark and model, a line a contest."""
    tests = sum(len(own) for own in listed.values())
    panels = {name: [curve for own in spreads if (curve := _curve(own, tests))] for name, spreads in listed.items()}
    panels = {name: curves for name, curves in panels.items() if curves}
    if not panels:
        return None
    note = "The true difference that four of five sweeps of that many samples would show, at the seeds that were run."
    return curves_plot(f"{suite}-power", f"{metric}: what n samples can show", "samples", "detectable", panels, note)


def _curve(own: Spread, tests: int) -> Curve | None:
    seen = replace(own.pilot, level=ALPHA / max(1, tests))
    points = [(n, seen.detectable(n, own.seeds)) for n in (round(own.n * step) for step in _STEPS) if n >= _LEAST]
    kept = [(n, found) for n, found in points if math.isfinite(found) and found > 0]
    return Curve(own.label, [n for n, _ in kept], [found for _, found in kept]) if len(kept) > 2 else None
