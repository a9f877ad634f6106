"""Which documents are put before the systems. Every system asks here, so all see the same candidates."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.text import tokenise

_LEAK_MARGIN = 8
"""Candidates fetched beyond k, so that a document left out for a leak is replaced."""


@dataclass(frozen=True, slots=True)
class Document:
    doc_id: str
    lang: str
    title: str
    text: str
    other_titles: tuple[str, ...] = ()
    """Its title in other languages, as an encyclopedia's language links give them: indexed, not shown."""
    built_from: frozenset[str] = field(default_factory=frozenset[str])
    """Questions whose answers this document was made from; it is never a candidate for them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    document: Document
    score: float


class Corpus:
    """Documents with a BM25 index over words, and over character pairs where a script does not part words."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = tuple(documents)
        self._index: Any = None
        self._lock = threading.Lock()

    def candidates(self, question: str, sample_id: str, k: int) -> list[Candidate]:
        """The best k documents, best first, ties by document order; none that shares nothing with the question."""
        if not self.documents:
            return []
        tokens = tokenise(question)
        if not tokens:
            return []
        wanted = min(len(self.documents), k + _LEAK_MARGIN)
        found, scores = self._built().retrieve([tokens], k=wanted, show_progress=False, n_threads=0)
        ranked = sorted(zip(scores[0].tolist(), found[0].tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))
        kept = [
            Candidate(self.documents[index], score)
            for score, index in ranked
            if score > 0 and sample_id not in self.documents[index].built_from
        ]
        return kept[:k]

    def _built(self) -> Any:
        with self._lock:
            if self._index is None:
                import bm25s

                # It logs every index at DEBUG through a handler of its own.
                logging.getLogger("bm25s").setLevel(logging.WARNING)
                index = bm25s.BM25(method="lucene")
                index.index([tokenise(_indexed(d)) for d in self.documents], show_progress=False)
                self._index = index
        return self._index


def _indexed(document: Document) -> str:
    return "\n".join((document.title, *document.other_titles, document.text))
