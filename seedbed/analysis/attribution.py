"""Which of the parts that changed between two runs moved a figure: old and new of each, crossed, sample by sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from seedbed.analysis.columns import Columns, Range, ends_of, estimate
from seedbed.analysis.paired import finite, sample_p, tidy
from seedbed.analysis.significance import holm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Corner = frozenset[str]
"""The parts that are new in a crossing; all others are old."""

ACCUSED = 0.01
"""Level at which a part is named, over all parts and figures of a night together: a wrong name costs hours."""
SILENT = 0.001
"""The same for a part of which the record shows no change."""
_FLIPS = 20_000
_RNG_SEED = 20240917


@dataclass(frozen=True, slots=True)
class Effect:
    """What a part, or several that cannot be told apart, did to a figure."""

    parts: tuple[str, ...]
    difference: float
    low: float | None
    high: float | None
    """Of an interval at the level that all parts together leave it."""
    p: float | None
    """None where no test is made: no sample was moved, or there is none."""
    n: int
    p_holm: float | None = None

    @property
    def excludes_none(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class Attribution:
    """The change of one figure, told apart. The effects add up to the whole on the samples that all crossings have."""

    total: Effect
    effects: Sequence[Effect]
    interactions: Sequence[Effect]
    """Of pairs of parts: how much more, or less, they do together than each by itself."""
    unmeasured: Sequence[tuple[str, ...]] = ()
    """Pairs whose interaction no crossing shows."""


def attribute(
    corners: Mapping[Corner, Floats], parts: Sequence[str], clusters: Ints, value_range: Range = (0.0, 1.0)
) -> Attribution:
    """Tell a change apart. `corners` holds a value a sample (nan where it has none) for each crossing that was made,
    nothing new and everything new among them.

    A part's effect is its step from old to new, averaged over every order in which the parts could have changed and
    whose crossings are there (with all of them: Shapley's value). Parts whose steps no order shows stay together.
    """
    import numpy as np

    whole = frozenset(parts)
    known = np.all([~np.isnan(values) for values in corners.values()], axis=0)
    values = {corner: own[known] for corner, own in corners.items()}
    places = np.unique(clusters[known], return_inverse=True)[1].astype(np.int64)
    groups = _steps(values, parts)
    pairs = list(combinations(parts, 2))
    interactions = {pair: found for pair in pairs if (found := _interaction(values, whole, pair)) is not None}
    columns = [values[whole] - values[frozenset()], *groups.values(), *interactions.values()]
    names = [tuple(parts), *groups, *interactions]
    made = _tested(columns, names, places, value_range, sum(bool(own.any()) for own in groups.values()))
    return Attribution(
        made[0],
        made[1 : 1 + len(groups)],
        made[1 + len(groups) :],
        [pair for pair in pairs if pair not in interactions],
    )


def with_holm(found: Sequence[Attribution]) -> list[Attribution]:
    """All figures of a night: p of parts adjusted over every part of every figure, those of interactions likewise."""
    effects = holm([effect.p for own in found for effect in own.effects])
    others = holm([effect.p for own in found for effect in own.interactions])
    first, second = iter(effects), iter(others)
    return [
        replace(
            own,
            effects=[replace(effect, p_holm=next(first)) for effect in own.effects],
            interactions=[replace(effect, p_holm=next(second)) for effect in own.interactions],
        )
        for own in found
    ]


def accused(effect: Effect, total: Effect, level: float = ACCUSED) -> bool:
    """Whether a part may be named: its effect is there, and it goes the way the figure went."""
    there = effect.excludes_none and effect.p_holm is not None and effect.p_holm < level
    return there and effect.difference * total.difference > 0


def _steps(values: Mapping[Corner, Floats], parts: Sequence[str]) -> dict[tuple[str, ...], Floats]:
    """By part, or by parts that stay together, the averaged step of each sample."""
    import numpy as np

    orders = [list(_walk(order, values)) for order in permutations(parts)]
    most = max(len(order) for order in orders)
    # Other orders may part them otherwise; those of the first are taken.
    chosen = next(order for order in orders if len(order) == most)
    names = {frozenset(step) for step, _, _ in chosen}
    alike = [order for order in orders if {frozenset(step) for step, _, _ in order} == names]
    found: dict[frozenset[str], list[Floats]] = {}
    for order in alike:
        for step, before, after in order:
            found.setdefault(frozenset(step), []).append(values[after] - values[before])
    return {tuple(part for part in parts if part in name): np.mean(own, axis=0) for name, own in found.items()}


def _walk(order: Sequence[str], values: Mapping[Corner, Floats]) -> Iterator[tuple[list[str], Corner, Corner]]:
    """From nothing new to all new, with the parts that change between two crossings that are there."""
    before: Corner = frozenset()
    waiting: list[str] = []
    for part in order:
        waiting.append(part)
        after = before | frozenset(waiting)
        if after in values:
            yield waiting, before, after
            before, waiting = after, []


def _interaction(values: Mapping[Corner, Floats], whole: Corner, pair: tuple[str, str]) -> Floats | None:
    """With all other parts old, or all new, whichever was crossed."""
    one, other = pair
    for rest in (frozenset[str](), whole - {one, other}):
        corners = [rest | {one, other}, rest | {one}, rest | {other}, rest]
        if all(corner in values for corner in corners):
            both, first, second, none = (values[corner] for corner in corners)
            return both - first - second + none
    return None


def _tested(
    columns: Sequence[Floats], names: Sequence[tuple[str, ...]], clusters: Ints, value_range: Range, family: int
) -> list[Effect]:
    import numpy as np

    table = Columns.of(np.column_stack(columns), clusters)
    low_end, high_end = ends_of(value_range)
    most = np.full(len(columns), high_end - low_end)
    made = estimate(table.sums, table.counts, -most, most)
    everything = np.full(len(columns), math.inf)
    low, high = made.interval(-everything, everything, 1 - ACCUSED / max(1, family))
    p = sample_p(table, [False] * len(columns), _RNG_SEED, _FLIPS)
    n = len(columns[0])
    return [
        Effect(
            name,
            tidy(float(column.mean())) if n else math.nan,
            finite(float(low[place])),
            finite(float(high[place])),
            # At no level could a part be named that moved no sample: it takes no share of it from the others (Tarone).
            None if math.isnan(p[place]) or not column.any() else tidy(float(p[place])),
            n,
        )
        for place, (name, column) in enumerate(zip(names, columns, strict=True))
    ]
