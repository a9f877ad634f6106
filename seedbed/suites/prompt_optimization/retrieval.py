"""Articles found by BM25 over title and text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import orjson

from seedbed.errors import UserError
from seedbed.suites.kit.retrieval.collection import Collection, read_collection
from seedbed.suites.kit.retrieval.recipe import Recipe
from seedbed.suites.kit.rows import Row

Article = tuple[str, str]
"""Title and text."""

_WORD = re.compile(r"\w+")
_PLAIN_TEXT = "a an and are as at be by did do for from in is it its of on or that the to was were which who with"
_PLAIN = frozenset(_PLAIN_TEXT.split())


class Corpus:
    """Titles and texts. One a benchmark; programs share it."""

    def __init__(self, articles: Sequence[Article] | Collection[Article]) -> None:
        if not isinstance(articles, Collection):
            articles = Collection(tuple(articles), _text, _tokens)
        self._articles = articles

    def __len__(self) -> int:
        return len(self._articles)

    async def search(self, query: str, k: int) -> list[Article]:
        """The k best articles, best first, ties in their order; none that shares no word with the query."""
        if not len(self):
            raise UserError("this benchmark has no corpus; put its articles as corpus.jsonl {title, text} beside it.")
        return [article for article, _ in await self._articles.search(query, k)]


def read_articles(file: Path) -> Collection[Article]:
    return read_collection(file, _RECIPE)


def _articles_of(row: Row) -> list[Article]:
    """Its text, or its sentences as they follow each other."""
    name = "text" if row.data.get("text") is not None else "sentences"
    title = row.text("title")
    row.need("text", "sentences")
    return [(title, "".join(row.texts(name)))]


def _text(article: Article) -> str:
    return f"{article[0]} {article[1]}"


def _tokens(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _PLAIN]


def _load(data: bytes) -> Article:
    title, text = orjson.loads(data)
    return title, text


_RECIPE: Recipe[Article] = Recipe(
    shape="{title, text}",
    make=_articles_of,
    text=_text,
    tokens=_tokens,
    dump=orjson.dumps,
    load=_load,
    version="articles by words without the plainest, 1",
)
