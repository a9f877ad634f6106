"""From measured comparisons to verdicts: seeds pooled over benchmarks, Holm over each family, missing answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from seedbed.analysis.comparisons import Measured
from seedbed.analysis.looked import account_for_looks
from seedbed.analysis.paired import ALPHA, finite, tidy
from seedbed.analysis.power import Sized, detectable
from seedbed.analysis.results import Comparison
from seedbed.analysis.seeds import ONE_SEED, SeedSpread, pooled_over_benchmarks, widened
from seedbed.analysis.significance import holm
from seedbed.analysis.verdict import Verdict, verdict

_DECIDED: frozenset[Verdict] = frozenset({"better", "worse", "higher", "lower", "no difference"})


def judged(made: Iterable[Measured], alpha: float = ALPHA) -> list[Comparison]:
    """With Holm's p over each family, which is all tests of one metric of a suite (reference systems apart), and the
    verdicts that follow."""
    listed = [m if m.looked is None else account_for_looks(m, m.looked) for m in _over_seeds(list(made))]
    found: list[Comparison] = [m.comparison for m in listed]
    families: dict[tuple[str, str, bool], list[int]] = {}
    for place, c in enumerate(found):
        families.setdefault((c.suite, c.metric, c.reference), []).append(place)
    for places in families.values():
        ps = [found[i].p for i in places]
        for place, adjusted, left in zip(places, holm(ps), tests_left(ps), strict=True):
            found[place] = _judged(listed[place], adjusted, left, alpha)
    return found


def tests_left(ps: Sequence[float | None]) -> list[int]:
    """How many tests Holm still has to do when it comes to each: the level of that one is divided by it."""
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    left = [1] * len(ps)
    for rank, (_, place) in enumerate(order):
        left[place] = len(order) - rank
    return left


def _over_seeds(made: Sequence[Measured]) -> list[Measured]:
    """Where seeds make other systems: p and interval that hold for other seeds, the spread over seeds pooled over the
    benchmarks of a system."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, m in enumerate(made):
        c = m.comparison
        if m.spread is not None and m.spread.known:
            groups.setdefault((c.suite, c.model, c.label, c.baseline, c.metric), []).append(place)
    spreads = {place: m.spread for place, m in enumerate(made) if m.spread is not None}
    for places in groups.values():
        pooled = pooled_over_benchmarks([spread for i in places if (spread := made[i].spread) is not None])
        spreads |= dict(zip(places, pooled, strict=True))
    return [_with_seeds(m, spreads[i]) if i in spreads else m for i, m in enumerate(made)]


def _with_seeds(m: Measured, spread: SeedSpread) -> Measured:
    import numpy as np

    c = m.comparison
    if c.difference is None:
        return m
    p = np.array([math.nan if c.p is None else c.p])
    interval = tuple(np.array([end if end is not None else side]) for end, side in _ends(c))
    most = np.array([m.most])
    p, (low, high) = widened(spread, p, (interval[0], interval[1]), (-most, most))
    if not spread.known:
        return replace(
            m, sized=None, comparison=replace(c, p=None, test=None, ci_low=None, ci_high=None, reason=ONE_SEED)
        )
    tested = None if math.isnan(float(p[0])) else tidy(float(p[0]))
    return replace(
        m,
        spread=spread,
        sized=m.sized and _sized_over_seeds(m.sized, spread),
        comparison=replace(
            c,
            p=tested,
            test=None if tested is None else "samples and seeds",
            ci_low=finite(float(low[0])),
            ci_high=finite(float(high[0])),
        ),
    )


def _sized_over_seeds(sized: Sized, spread: SeedSpread) -> Sized:
    errors = [(float(error[0]), float(degrees[0])) for error, degrees in spread.errors()]
    return replace(
        sized,
        errors=[*sized.errors, *errors],
        test="t" if sized.test == "t" else "flips",
        deviation=None if spread.deviation is None else float(spread.deviation[0]),
    )


def _ends(c: Comparison) -> list[tuple[float | None, float]]:
    return [(c.ci_low, -math.inf), (c.ci_high, math.inf)]


def _judged(m: Measured, adjusted: float | None, left: int, alpha: float) -> Comparison:
    c = m.comparison
    if c.reason == ONE_SEED:
        return replace(c, verdict="no verdict")
    least = None if m.sized is None or adjusted is None else detectable(m.sized, alpha / left)
    c = replace(
        c, p_holm=None if adjusted is None else tidy(adjusted), detectable=None if least is None else tidy(least)
    )
    words = _words(c, c.difference, (c.ci_low, c.ci_high), c.p_holm, alpha)
    if words in _DECIDED and any(word != words for word in _at_the_ends(m, c, left, alpha)):
        reason = (
            f"{c.n_missing} samples have an answer missing; had it been as bad or as good as can be, it might differ"
        )
        return replace(c, verdict="too many missing", reason=reason)
    return replace(c, verdict=words)


def _words(
    c: Comparison,
    difference: float | None,
    interval: tuple[float | None, float | None],
    p: float | None,
    alpha: float,
) -> Verdict:
    return verdict(
        difference=difference,
        interval=interval,
        p=p,
        margin=c.margin or 0.0,
        higher_is_better=c.higher_is_better,
        alpha=alpha,
    )


def _at_the_ends(m: Measured, c: Comparison, left: int, alpha: float) -> list[Verdict]:
    """The verdicts had all that is missing been as bad, or as good, as it can be; by the tests that Holm left."""
    import numpy as np

    found: list[Verdict] = []
    for extreme in m.extremes:
        p, low, high = extreme.p, extreme.ci_low, extreme.ci_high
        if m.spread is not None and p is not None:
            moved = replace(m.spread, mean=np.array([extreme.difference]))
            most = np.array([m.most])
            ps, ends = widened(moved, np.array([p]), (np.array([low]), np.array([high])), (-most, most))
            p, low, high = float(ps[0]), float(ends[0][0]), float(ends[1][0])
        found.append(_words(c, extreme.difference, (low, high), None if p is None else min(1.0, p * left), alpha))
    return found
