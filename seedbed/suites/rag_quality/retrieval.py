"""Which passages are put before a system: by words (BM25) or by vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from seedbed.suites.rag_quality.embedding import Embedder, Vectors


@dataclass(frozen=True, slots=True)
class Passage:
    passage_id: str
    text: str


class Bm25Index:
    """Built at the first search, once for all threads."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = tuple(passages)
        self._index: Any = None
        self._lock = threading.Lock()

    def search(self, question: str, k: int) -> list[Passage]:
        """The best k, best first, ties in document order; none that shares no word with the question."""
        tokens = tokenise(question)
        if not self._passages or not tokens:
            return []
        found, scores = self._built().retrieve(
            [tokens], k=min(k, len(self._passages)), show_progress=False, n_threads=0
        )
        ranked = sorted(zip(scores[0].tolist(), found[0].tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))
        return [self._passages[index] for score, index in ranked if score > 0]

    def _built(self) -> Any:
        with self._lock:
            if self._index is None:
                import bm25s

                index = bm25s.BM25(method="lucene")
                index.index([tokenise(passage.text) for passage in self._passages], show_progress=False)
                self._index = index
        return self._index


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


def tokenise(text: str) -> list[str]:
    """Words by Unicode's rules, and pairs of characters in scripts that do not part words."""
    from icu4py.breakers import WordBreaker

    lowered = text.lower()
    words = [word for word in WordBreaker(lowered, "root") if any(char.isalnum() for char in word)]
    pairs = (run[i : i + 2] for run in _unspaced().findall(lowered) for i in range(len(run) - 1))
    return [*words, *pairs]


@lru_cache(maxsize=1)
def _unspaced() -> Any:
    import regex

    return regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")
