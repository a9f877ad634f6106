"""BM25 over token lists: the one way texts are searched by their words."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.floating[Any]]

METHOD = "lucene"


class Bm25:
    """An index built at the first search, once for all threads. `folder` holds one that was built and saved before."""

    def __init__(self, tokens: Sequence[Sequence[str]] = (), *, folder: Path | None = None) -> None:
        self._tokens = tokens
        self._folder = folder
        self._index: Any = None
        self._lock = threading.Lock()

    def scores(self, query: Sequence[str]) -> list[float]:
        """How well each text fits, 0 where it shares no token with the query; empty for a query without tokens."""
        return self._scores(query).tolist()

    def best(self, query: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Places and scores of the best k texts, best first, ties in their order; none that shares nothing.

        The index's own top k is not used: its order among equal scores changes from one build to the next.
        """
        import numpy as np

        scores = self._scores(query)
        fitting = np.flatnonzero(scores > 0)
        if k <= 0:
            return []
        if len(fitting) > k:
            # Only what reaches the k-th best score is put in order, with all that equal it.
            least = np.partition(scores[fitting], len(fitting) - k)[len(fitting) - k]
            fitting = fitting[scores[fitting] >= least]
        ordered = fitting[np.argsort(-scores[fitting], kind="stable")][:k]
        return [(int(place), float(scores[place])) for place in ordered]

    def _scores(self, query: Sequence[str]) -> Floats:
        import numpy as np

        index = self._built()
        return np.zeros(0) if not query or index is None else index.get_scores(list(query))

    def save(self, folder: Path) -> None:
        """Into an empty folder, from which `folder=` maps it into memory; nothing for texts without a single token."""
        index = self._built()
        if index is not None:
            index.save(folder, show_progress=False)

    def _built(self) -> Any:
        with self._lock:
            if self._index is None:
                import bm25s

                # It logs every index at DEBUG through a handler of its own.
                logging.getLogger("bm25s").setLevel(logging.WARNING)
                if self._folder is not None and any(self._folder.iterdir()):
                    self._index = bm25s.BM25.load(self._folder, mmap=True, show_progress=False)
                elif any(self._tokens):
                    self._index = bm25s.BM25(method=METHOD)
                    self._index.index([list(tokens) for tokens in self._tokens], show_progress=False)
            return self._index
