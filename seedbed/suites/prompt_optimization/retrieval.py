"""Articles found by BM25 over title and text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seedbed.errors import UserError
from seedbed.suites.kit.bm25 import Bm25

_WORD = re.compile(r"\w+")
_PLAIN_TEXT = "a an and are as at be by did do for from in is it its of on or that the to was were which who with"
_PLAIN = frozenset(_PLAIN_TEXT.split())


class Corpus:
    """Titles and texts. One a benchmark; programs share it."""

    def __init__(self, articles: Sequence[tuple[str, str]]) -> None:
        self._articles = tuple(articles)
        self._index = Bm25([_tokens(f"{title} {text}") for title, text in self._articles])

    def __len__(self) -> int:
        return len(self._articles)

    def search(self, query: str, k: int) -> list[tuple[str, str]]:
        """The k best articles, best first, ties in their order; none that shares no word with the query."""
        if not self._articles:
            raise UserError("this benchmark has no corpus; put its articles as corpus.jsonl {title, text} beside it.")
        return [self._articles[place] for place, _ in self._index.best(_tokens(query), k)]


def _tokens(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _PLAIN]
