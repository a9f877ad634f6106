"""Comparisons that were looked at while they grew: p and intervals that account for the looks, and how they ended."""

from __future__ import annotations

import math
from dataclasses import replace

from seedbed.analysis.contests import Contest, Looked
from seedbed.analysis.measured import Measured
from seedbed.analysis.paired import ALPHA, finite, tidy
from seedbed.analysis.results import Comparison
from seedbed.analysis.spending import look_level, reached_level


def account_for_looks(m: Measured, looked: Looked) -> Measured:
    """The deciding metric has the p of its looks. Any other one was looked at as often, at samples that were there
    because of the first: its p and interval are for the look that it came to."""
    c = replace(m.comparison, stopped=looked.words(m.comparison.metric))
    if not looked.number or c.difference is None:
        return replace(m, comparison=c)
    if c.metric == looked.metric:
        p = Contest(looked.seen, 1.0).p(looked.looks)
        c = replace(c, p=None if p is None else tidy(p), test=None if p is None else "sequential")
    elif c.p is not None:
        c = replace(c, p=tidy(_reached(looked, c.p)))
    # What a comparison of a fixed size could have found says nothing of one that ended by itself.
    return replace(m, sized=None if looked.asked < looked.planned else m.sized, comparison=_wider(m, c, looked))


def _reached(looked: Looked, p: float) -> float:
    from scipy.special import ndtri

    return float(reached_level(looked.looks, looked.number, -ndtri(max(p, 1e-300) / 2)))


def _wider(m: Measured, c: Comparison, looked: Looked) -> Comparison:
    """As much wider as the limit of its look is further out than that of a single one."""
    assert c.difference is not None
    factor, most = _further(m, look_level(looked.looks, looked.number, ALPHA)), m.most
    low = None if c.ci_low is None else max(-most, c.difference - (c.difference - c.ci_low) * factor)
    high = None if c.ci_high is None else min(most, c.difference + (c.ci_high - c.difference) * factor)
    return replace(c, ci_low=None if low is None else finite(low), ci_high=None if high is None else finite(high))


def _further(m: Measured, level: float) -> float:
    """How much further out than at `ALPHA` the widest of its intervals ends: that over few seeds grows the fastest."""
    from scipy.special import stdtrit

    known = [] if m.sized is None else [(error, df) for error, df in m.sized.errors if 0 < error < math.inf]
    errors = known or [(1.0, max(1, m.comparison.n_clusters - 1))]

    def half(level: float) -> float:
        return max(error * float(stdtrit(degrees, 1 - level / 2)) for error, degrees in errors)

    return half(level) / half(ALPHA)
