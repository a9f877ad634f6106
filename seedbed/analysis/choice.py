"""Whether so many examples can tell the candidates of a search apart, and what to say where they cannot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

from seedbed.analysis.means import sample_std
from seedbed.analysis.power import POWER

SMALL = 0.1
"""Of the range of scores. Where a search cannot see such a gain, what it chooses is chance as much as merit."""
ASSUMED_SPREAD = 0.5
"""Of the differences between two candidates' scores (0 to 1) of an example, where none were seen: half the range. Two
candidates that disagree on a quarter of all 0/1 examples have it."""
ALPHA = 0.05
_ROUND = 10

Scores = Mapping[str, float]
"""Of a candidate, by example."""


def observed_spread(base: Scores, others: list[Scores]) -> float | None:
    """Of differences from the base program, over all candidates that were scored on its examples; None where no
    candidate was, or none differs."""
    whole = [own for own in others if own.keys() >= base.keys()]
    spreads = [sample_std([own[name] - score for name, score in base.items()]) or 0.0 for own in whole]
    return math.sqrt(math.fsum(spread**2 for spread in spreads) / len(spreads)) or None if spreads else None


def shown_by(n: int, spread: float) -> float | None:
    """The smallest difference between two candidates that n examples show in four of five searches, by Student's t on
    pairs; None where no difference within the range would be."""
    if n < 2:
        return None
    shown = sum(_student(share, n - 1) for share in (1 - ALPHA / 2, POWER)) * spread / math.sqrt(n)
    return shown if shown <= 1 else None


def examples_for(difference: float, spread: float) -> int:
    """Examples that show a difference, in round numbers."""
    normal = NormalDist()
    needed = ((normal.inv_cdf(1 - ALPHA / 2) + normal.inv_cdf(POWER)) * spread / difference) ** 2
    return math.ceil(needed / _ROUND) * _ROUND


def too_few(searches: str, examples: str, n: int, spread: float | None = None) -> str | None:
    """The sentence about searches that choose by n examples of a kind; None where they are enough."""
    by = ASSUMED_SPREAD if spread is None else spread
    shown = shown_by(n, by)
    if shown is not None and shown <= SMALL:
        return None
    what = "no difference at all" if shown is None else f"a difference of {shown:.2f} or more"
    basis = "assumed" if spread is None else "as seen"
    more = f"give it more, {examples_for(SMALL, by)} show {SMALL:g}"
    return (
        f"candidates of {searches} are chosen by {n} {examples} example{'s' * (n != 1)}, which can show {what} "
        f"(80% power, spread {by:.2f} {basis}): a smaller gain is chance as much as merit; {more}"
    )


def _student(share: float, degrees: int) -> float:
    """A quantile, by the first terms of Cornish and Fisher: a plan is made without scipy, which takes a second."""
    z = NormalDist().inv_cdf(share)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
