"""Contests that grow: what each look sees of a system against its baseline, and which are decided, Holm over all."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seedbed.analysis.columns import Columns, by_seed, estimate, numbered, over_columns
from seedbed.analysis.seeds import seed_spread
from seedbed.analysis.significance import holm
from seedbed.analysis.spending import boundaries, reached_level
from seedbed.analysis.stopping import Decision, Sequential

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_FARTHEST = 30.0
"""No difference is told to be further from 0, in standard errors."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A contest as one look sees it: the baseline taken from the system, over whole clusters."""

    n: int
    """Samples with a value on both sides."""
    n_clusters: int
    difference: float | None
    error: float | None
    """Of the difference, over samples; None where nothing shows a spread."""
    z: float | None
    """The difference in standard errors, on the normal scale; None where no test can be made."""


@dataclass(frozen=True, slots=True)
class Contest:
    """What the looks up to now have seen, oldest first, and the share of all cases that the last one had."""

    seen: Sequence[Figures]
    share: float
    stopped: Decision | None = None
    """How it was decided at an earlier look."""
    difference: float | None = None
    """That matters here, where contests of a family have not the same."""

    def p(self, looks: int) -> float | None:
        """Of the comparison, the looks accounted for; None where no look could make a test."""
        return min((level for level, _ in self._levels(looks)), default=None)

    def higher(self, looks: int) -> bool:
        """Whether the system is above its baseline, at the look that is surest."""
        return min(self._levels(looks))[1] > 0

    def _levels(self, looks: int) -> list[tuple[float, float]]:
        return [
            (float(reached_level(looks, number, figures.z)), figures.z)
            for number, figures in enumerate(self.seen, start=1)
            if figures.z is not None
        ]


@dataclass(frozen=True)
class Looked:
    """The looks at a contest, from the first on."""

    metric: str
    """That decides it."""
    looks: int
    """How many were planned."""
    seen: Sequence[Figures]
    decision: Decision
    asked: int
    """Cases that a seed was asked."""
    planned: int

    @property
    def number(self) -> int:
        """The look that it came to."""
        return len(self.seen)

    def words(self, metric: str) -> str:
        """How it ended, as tables say it beside a metric: by which it was decided, where that is another."""
        by = "" if metric == self.metric else f" by {self.metric}"
        if self.asked < self.planned and self.decision == "go on":
            return f"open after {self.asked} of {self.planned}"
        if self.asked < self.planned:
            return f"stopped at {self.asked} of {self.planned}: decided{by} ({self.decision})"
        decided = self.decision in ("better", "worse")
        return f"all {self.planned} asked: {f'decided{by} ({self.decision})' if decided else 'not decided'}"


def contest_figures(
    system: ArrayLike,
    baseline: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    seed_changes_system: bool = False,
) -> Figures:
    """Values as samples x seeds, nan where one is missing; as `compare_paired`, by Student's t over clusters (and
    seeds), which has a tail where sign flips have only so many patterns."""
    own, base = by_seed(system), by_seed(baseline)
    places = numbered(clusters, len(own))
    columns = Columns.of((over_columns(own) - over_columns(base))[:, None], places)
    n, n_clusters = int(columns.counts.sum()), int(columns.n_clusters[0])
    if n_clusters < 2:
        return Figures(n, n_clusters, None, None, None)
    means, errors, zs = standardised(columns)
    if not math.isfinite(errors[0]):
        return Figures(n, n_clusters, float(means[0]), None, None)
    z = float(zs[0])
    if seed_changes_system:
        spread = seed_spread((own - base)[:, :, None], places)
        if not spread.known:
            return Figures(n, n_clusters, float(means[0]), float(errors[0]), None)
        # The least sure of all: a verdict must hold for other seeds too.
        others = [abs(float(_on_normal_scale(means / error, degrees)[0])) for error, degrees in spread.errors()]
        z = math.copysign(min(abs(z), *others), z)
    return Figures(n, n_clusters, float(means[0]), float(errors[0]), z)


def standardised(columns: Columns) -> tuple[Floats, Floats, Floats]:
    """Of each column of differences the mean, its standard error (infinite without a spread), and how many of them it
    is from 0. Never further than the signs of so few clusters could tell."""
    import numpy as np
    from scipy.special import ndtri

    ends = np.full(columns.sums.shape[1], np.inf)
    made = estimate(columns.sums, columns.counts, -ends, ends, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = _on_normal_scale(np.where(np.isfinite(made.error), made.mean / made.error, 0.0), made.degrees)
    most = np.minimum(-ndtri(np.exp2(-np.minimum(columns.n_clusters, 600.0))), _FARTHEST)
    return made.mean, made.error, np.clip(z, -most, most)


def _on_normal_scale(t: Floats, degrees: Floats) -> Floats:
    import numpy as np
    from scipy.special import ndtri, stdtr

    tail = np.maximum(stdtr(np.maximum(degrees, 1e-3), -np.abs(t)), 1e-300)
    return np.copysign(np.minimum(-ndtri(tail), _FARTHEST), t)


def decide(design: Sequential, contests: Sequence[Contest], number: int, others: int = 0) -> list[Decision]:
    """What look `number` decides of each contest of a family: what was decided stays so. `others` tests of the family
    are not known yet and count as if they showed nothing. A p only falls from look to look, and so does Holm's: what
    was better stays better when the others are known."""
    ps = [contest.p(design.looks) for contest in contests]
    adjusted = holm([*ps, *[1.0] * others])[: len(ps)]
    found_already = sum(p is not None and p < design.alpha for p in adjusted)
    left = max(1, sum(p is not None for p in ps) + others - found_already)
    last = boundaries(design.looks, design.alpha / left)[-1]
    return [
        contest.stopped or _decision(design, contest, p, number, last)
        for contest, p in zip(contests, adjusted, strict=True)
    ]


def _decision(design: Sequential, contest: Contest, p: float | None, number: int, last: float) -> Decision:
    if p is not None and p < design.alpha:
        return "better" if contest.higher(design.looks) else "worse"
    if number >= design.looks:
        return "futile"
    now = contest.seen[-1] if contest.seen else None
    if now is None or now.z is None or now.error is None:
        # All differ alike, or none does: nothing says what the next would do but the last look.
        return "go on"
    design = replace(design, difference=contest.difference or design.difference)
    return "futile" if design.hopeless(now.z, now.error, contest.share, last) else "go on"
