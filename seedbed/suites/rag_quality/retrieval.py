"""Which passages are put before a system: by words (BM25) or by vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.suites.kit.bm25 import Bm25
from seedbed.suites.kit.tokenise import tokenise

if TYPE_CHECKING:
    from seedbed.suites.kit.embedding import Vectors
    from seedbed.suites.rag_quality.embedding import Embedder


@dataclass(frozen=True, slots=True)
class Passage:
    passage_id: str
    text: str


class Bm25Index:
    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = tuple(passages)
        self._index = Bm25([tokenise(passage.text) for passage in self._passages])

    def search(self, question: str, k: int) -> list[Passage]:
        """The best k, best first, ties in document order; none that shares no word with the question."""
        return [self._passages[place] for place, _ in self._index.best(tokenise(question), k)]


class DenseIndex:
    """Passages by the cosine of their embeddings with the question's."""

    def __init__(self, passages: Sequence[Passage], embedder: Embedder) -> None:
        self._passages = tuple(passages)
        self._embedder = embedder
        self._lock = threading.Lock()
        self._vectors: Vectors | None = None

    def search(self, question: str, k: int) -> list[Passage]:
        if not self._passages:
            return []
        with self._lock:  # models are not safe to call from two threads
            if self._vectors is None:
                self._vectors = self._embedder([passage.text for passage in self._passages])
            scores = self._vectors @ self._embedder([question])[0]
        ranked = sorted(enumerate(scores.tolist()), key=lambda pair: (-pair[1], pair[0]))
        return [self._passages[index] for index, _ in ranked[:k]]
