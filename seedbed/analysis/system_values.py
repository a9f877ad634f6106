"""The values of a system in a comparison, in the order of a table's samples and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seedbed.analysis.score_table import ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SystemValues:
    label: str
    values: Floats
    """Samples x metrics, each sample the mean of its seeds."""
    n_seeds: int = 1
    missing: Floats | None = None
    """The share of seeds whose score is missing because something failed."""
    by_seed: Mapping[int, Floats] = field(default_factory=dict[int, Any])
    made_by_seed: bool = False
    """Whether every seed makes another system of it."""

    def at_end(self, end: Floats) -> Floats:
        """The values with all that is missing at an end of the metrics' ranges."""
        return self.values if self.missing is None else filled(self.values, self.missing, end)

    def seeds(self, wanted: list[int]) -> Floats:
        """Samples x seeds x metrics. A system that no seed changes and that lacks one is taken as it is on average."""
        import numpy as np

        return np.stack([self.by_seed.get(seed, self.values) for seed in wanted], axis=1)


def values_of(table: ScoreTable, label: str) -> SystemValues:
    return SystemValues(
        label,
        table.values[label],
        max(1, len(table.seeds.get(label, {}))),
        table.missing.get(label),
        table.by_seed.get(label, {}),
        label in table.made_by_seed,
    )


def aligned_values(base: ScoreTable, label: str, own: ScoreTable) -> SystemValues:
    """A system of one table in the order of another's samples and metrics; nan where it lacks one."""
    import numpy as np

    rows = {sample: place for place, sample in enumerate(base.sample_ids)}
    columns = {metric: place for place, metric in enumerate(base.metrics)}
    to = np.ix_([s in rows for s in own.sample_ids], [m in columns for m in own.metrics])
    source = np.ix_([rows[s] for s in own.sample_ids if s in rows], [columns[m] for m in own.metrics if m in columns])

    def moved(values: Floats, rest: float) -> Floats:
        found = np.full((len(own.sample_ids), len(own.metrics)), rest)
        found[to] = values[source]
        return found

    side = values_of(base, label)
    return SystemValues(
        label,
        moved(side.values, np.nan),
        side.n_seeds,
        None if side.missing is None else moved(side.missing, 0.0),
        {seed: moved(values, np.nan) for seed, values in side.by_seed.items()},
        side.made_by_seed,
    )


def common_seeds(own: SystemValues, base: SystemValues) -> list[int]:
    """The seeds that speak of chance between systems: those of every side that a seed changes."""
    needed = [side for side in (own, base) if side.made_by_seed]
    found = set(needed[0].by_seed) if needed else set[int]()
    for side in needed[1:]:
        found &= set(side.by_seed)
    return sorted(found)


def filled(values: Floats, missing: Floats, end: float | Floats) -> Floats:
    """Means over seeds, with the share that is missing at an end of the range."""
    import numpy as np

    known = np.where(np.isnan(values), 0.0, values) * (1 - missing) + end * missing
    return np.where(np.isnan(values) & (missing == 0), np.nan, known)
