"""How far a judge goes along with people, and people with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def kappa(one: Floats, other: Floats, weights: Floats | None = None) -> float | None:
    """Cohen's kappa with quadratic weights, for marks of any scale: 1 less the mean squared disagreement over that of
    two raters who know nothing of each other. For two marks it is Cohen's own. None below two samples, or where both
    give one mark alone."""
    import numpy as np

    if len(one) < 2:
        return None
    w = np.ones(len(one)) if weights is None else weights
    w = w / w.sum()
    apart = float((w * np.square(one - other)).sum())
    first, second = float((w * one).sum()), float((w * other).sum())
    by_chance = float((w * one * one).sum() + (w * other * other).sum()) - 2 * first * second
    return None if by_chance <= 1e-12 else 1 - apart / by_chance
