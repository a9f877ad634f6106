"""A comparison as it is before the family of its tests is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.analysis.columns import Columns
from seedbed.analysis.contests import Looked
from seedbed.analysis.power import Sized
from seedbed.analysis.results import Comparison
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import SeedSpread
from seedbed.suite import Metric


@dataclass(frozen=True)
class Extreme:
    """A comparison had all that is missing been as bad, or as good, as it can be."""

    difference: float
    ci_low: float
    ci_high: float
    p: float | None


@dataclass(frozen=True)
class Measured:
    """A comparison whose family is not known yet: it has the p and the interval over samples, and no verdict."""

    comparison: Comparison
    sized: Sized | None = None
    most: float = float("inf")
    """The largest difference that the metric's range allows."""
    spread: SeedSpread | None = None
    """Over seeds, where one side is made anew by every seed."""
    extremes: Sequence[Extreme] = ()
    """Where answers are missing: with those of the system at the low end and the baseline's at the high, and turned."""
    columns: Columns | None = None
    """The differences themselves, a column; None for composed figures."""
    looked: Looked | None = None
    """The looks at it, where it was looked at while it grew."""


def blank_comparison(table: ScoreTable, label: str, baseline: str, metric: Metric) -> Comparison:
    """Nothing but names."""
    return Comparison(
        *table.key,
        label=label,
        baseline=baseline,
        metric=metric.name,
        metric_label=metric.label,
        digits=metric.digits,
        higher_is_better=metric.higher_is_better,
        reference=label in table.reference,
    )
