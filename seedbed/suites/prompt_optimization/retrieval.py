"""Articles found by BM25 over title and text."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from seedbed.errors import UserError

_WORD = re.compile(r"\w+")
_PLAIN_TEXT = "a an and are as at be by did do for from in is it its of on or that the to was were which who with"
_PLAIN = frozenset(_PLAIN_TEXT.split())


class Corpus:
    """Titles and texts, indexed at the first search. One a benchmark; programs share it."""

    def __init__(self, articles: Sequence[tuple[str, str]]) -> None:
        self._articles = tuple(articles)
        self._index: Any = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._articles)

    def search(self, query: str, k: int) -> list[tuple[str, str]]:
        """The k best articles, best first, ties in their order; none that shares no word with the query."""
        tokens = _tokens(query)
        if not self._articles:
            raise UserError("this benchmark has no corpus; put its articles as corpus.jsonl {title, text} beside it.")
        if not tokens:
            return []
        # All scores, not the index's own top k: its order among equal scores changes from one build to the next.
        scores = self._built().get_scores(tokens).tolist()
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        return [self._articles[i] for i in ranked[:k] if scores[i] > 0]

    def _built(self) -> Any:
        with self._lock:
            if self._index is None:
                import bm25s

                index = bm25s.BM25(method="lucene")
                index.index([_tokens(f"{title} {text}") for title, text in self._articles], show_progress=False)
                self._index = index
            return self._index


def _tokens(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _PLAIN]
