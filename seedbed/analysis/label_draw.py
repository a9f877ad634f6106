"""Which samples a person labels: drawn at random, those where a label helps most with a greater chance.

Every sample has a number between 0 and 1 of its own (from its id and the draw's salt) and a size; samples are taken in
the order of number / size, as in priority sampling. Whoever stops after k samples has a random draw of k whose chances
are known: min(1, size x threshold), the threshold being the rank of the first sample that was not taken. A label drawn
with a smaller chance counts for more, so nothing that sizes favour is favoured in a figure. (Duffield, Lund and Thorup
2007: with these chances sums are unbiased, and two samples' weights are uncorrelated.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_EVEN = 0.5
"""The part of every size that is the same for all, so that no label counts far more than another."""
_MOST = 3.0
"""Of the mean doubt, what counts of a sample's: where few are doubted, the others must not be all but left out."""


def own_number(salt: str, sample_id: str) -> float:
    """Between 0 and 1, the same wherever and whenever it is asked for."""
    digest = hashlib.sha256(f"{salt}\0{sample_id}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") + 0.5) / 2**64


def draw_numbers(salt: str, sample_ids: Sequence[str]) -> Floats:
    import numpy as np

    return np.array([own_number(salt, sample) for sample in sample_ids])


def sizes(doubt: Floats) -> Floats:
    """From how unsure the judge is of each sample (0 or more; nan where that is not known) to sizes whose mean is 1.
    Equal ones where nothing is known: sizes that foretell no error of the judge's cost labels and gain none."""
    import numpy as np

    known = np.where(np.isnan(doubt), np.nan, np.maximum(doubt, 0.0))
    centre = float(np.nanmean(known)) if (~np.isnan(known)).any() else 0.0
    if centre <= 0:
        return np.ones(len(doubt))
    found = _EVEN + (1 - _EVEN) * np.minimum(np.where(np.isnan(known), centre, known) / centre, _MOST)
    return found / found.mean()


def order(numbers: Floats, size: Floats) -> Ints:
    """Places of samples in the order in which they are to be labelled."""
    import numpy as np

    return np.argsort(numbers / size, kind="stable")


def chances(numbers: Floats, size: Floats, taken: int) -> Floats:
    """With which chance each sample is among the first `taken`."""
    import numpy as np

    if taken >= len(numbers):
        return np.ones(len(numbers))
    threshold = np.partition(numbers / size, taken)[taken]
    return np.minimum(1.0, size * threshold)


def known_sizes(sample_ids: Sequence[str], drawn: Mapping[str, float]) -> Floats:
    """Sizes as they were when the draw began; a sample that came later has the mean one."""
    import numpy as np

    return np.array([drawn.get(sample, 1.0) for sample in sample_ids])
