"""Search by words: BM25 over postings that lie in memory or are mapped from files."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.suites.kit.retrieval.mapped import Mapping
from seedbed.suites.kit.retrieval.terms import Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Places = NDArray[np.int32]

Ranking = list[tuple[int, float]]
"""Places and scores, best first."""

_ROUNDING = 1e-5
"""By how much sums of the same weights in another order may differ, with much room."""
_KEPT_MAPPED = 8_000_000
"""Postings read before the pages that hold them are let go: 64 MB of them."""


@dataclass(frozen=True, slots=True)
class Arrays:
    terms: Terms
    starts: NDArray[np.int64]
    places: Places
    weights: Floats
    peaks: Floats
    n_texts: int


class Postings:
    """For each word the texts that hold it, and what it adds to their scores.

    Scores are those of bm25s to the bit: 32-bit sums in the order of the query's words.
    """

    def __init__(self, arrays: Arrays, mapped: Sequence[Mapping] = ()) -> None:
        self._own = arrays
        self._mapped = mapped
        self._read = 0
        self._turn = threading.Lock()
        self._partial: Floats | None = None

    def scores(self, query: Sequence[str]) -> Floats:
        """How well each text fits, 0 where it shares no word with the query."""
        import numpy as np

        found = np.zeros(self._own.n_texts, dtype=np.float32)
        for term in self._known(query):
            places, weights = self._of(term)
            found[places] += weights
        return found

    def best(self, query: Sequence[str], k: int) -> Ranking:
        """The best k texts, ties in their order; none that shares nothing.

        Rare words are read first. Once what the words left can add is less than the k-th best has, only texts that were
        met can be among the best, and of the long lists of common words only their lines are looked up.
        """
        terms = self._known(query)
        if k <= 0 or not terms:
            return []
        with self._turn:  # one at a time: a search is work for a core, and the sums are as long as the corpus
            candidates = self._candidates(terms, k)
            ranking = self._ranked(candidates, terms, k)
            self._let_go()
        return ranking

    def _known(self, query: Sequence[str]) -> list[int]:
        numbers = {term: self._own.terms.find(term) for term in dict.fromkeys(query)}
        return [number for term in query if (number := numbers[term]) is not None]

    def _of(self, term: int) -> tuple[Places, Floats]:
        start, end = int(self._own.starts[term]), int(self._own.starts[term + 1])
        return self._own.places[start:end], self._own.weights[start:end]

    def _candidates(self, terms: Sequence[int], k: int) -> Places:
        """Places among which the best k are, in order."""
        import numpy as np

        if self._partial is None:
            self._partial = np.zeros(self._own.n_texts, dtype=np.float32)
        partial = self._partial
        most = {term: float(self._own.peaks[term]) * terms.count(term) for term in terms}
        left = sum(most.values())
        met: list[Places] = []
        least = 0.0
        try:
            for term in sorted(most, key=lambda term: -most[term]):
                if left < least:
                    break
                places, weights = self._of(term)
                self._read += len(places)
                met.append(places[partial[places] == 0])
                partial[places] += weights * np.float32(terms.count(term))
                left -= most[term]
                least = self._kth(met, partial, k, left)
            touched = np.concatenate(met)
            chosen = touched[partial[touched] >= np.float32(least - max(left, 0.0) - _ROUNDING * least)]
        finally:
            for places in met:
                partial[places] = 0
        return np.sort(chosen)

    @staticmethod
    def _kth(met: Sequence[Places], partial: Floats, k: int, left: float) -> float:
        """The k-th best sum so far, a little less for rounding; 0 where it cannot end the search yet."""
        import numpy as np

        if sum(map(len, met)) < k:
            return 0.0
        sums = np.concatenate([partial[places] for places in met])
        if left > float(sums.max()):
            return 0.0
        return float(np.partition(sums, len(sums) - k)[len(sums) - k]) * (1 - _ROUNDING)

    def _ranked(self, candidates: Places, terms: Sequence[int], k: int) -> Ranking:
        import numpy as np

        scores = np.zeros(len(candidates), dtype=np.float32)
        for term in terms:
            places, weights = self._of(term)
            at = np.searchsorted(places, candidates)
            at[at == len(places)] = 0
            here = np.flatnonzero(places[at] == candidates)
            scores[here] += weights[at[here]]
        order = np.argsort(-scores, kind="stable")[:k]
        return list(zip(candidates[order].tolist(), scores[order].tolist(), strict=True))

    def _let_go(self) -> None:
        if self._read > _KEPT_MAPPED:
            self._read = 0
            for mapping in self._mapped:
                mapping.let_go()
