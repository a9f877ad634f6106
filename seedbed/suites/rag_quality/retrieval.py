"""Which passages are put before a system: by words (BM25) or by vectors."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from seedbed.suites.kit.retrieval.collection import Collection, read_collection
from seedbed.suites.kit.retrieval.recipe import Recipe
from seedbed.suites.kit.retrieval.search_threads import in_search_thread
from seedbed.suites.kit.retrieval.vectors import VectorIndex, kept_vectors
from seedbed.suites.kit.rows import Row
from seedbed.suites.kit.tokenise import TOKENS_VERSION, tokenise

if TYPE_CHECKING:
    from seedbed.suites.rag_quality.embedding import Embedder


@dataclass(frozen=True, slots=True)
class Passage:
    passage_id: str
    text: str


Passages = Collection[Passage]


def passages_of(passages: Iterable[Passage]) -> Passages:
    """Passages that are at hand."""
    return Collection(list(passages), _text, tokenise)


def read_passages(file: Path) -> Passages:
    """A row a document; its paragraphs are the passages."""
    return read_collection(file, _RECIPE)


class DenseIndex:
    """Passages by the cosine of their embeddings with the question's. The vectors are kept under `folder`; `model`
    names what makes them."""

    def __init__(self, passages: Passages, embedder: Embedder, model: Any, folder: Path) -> None:
        self._passages, self._embedder = passages, embedder
        self._model, self._folder = model, folder
        self._opening = threading.Lock()
        self._vectors: VectorIndex | None = None

    async def search(self, question: str, k: int) -> list[Passage]:
        return await in_search_thread(self._search, question, k) if len(self._passages) else []

    def _search(self, question: str, k: int) -> list[Passage]:
        with self._opening:
            if self._vectors is None:
                texts = _Texts(self._passages.things)
                made_from = [self._model, self._passages.name or list(texts)]
                self._vectors = kept_vectors(self._folder, made_from, texts, self._embedder, "the passages")
        found = self._vectors.best(self._embedder([question]), k)
        return [self._passages.things[place] for place, _ in found]


@dataclass(frozen=True, slots=True)
class _Texts:
    passages: Sequence[Passage]

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[str]:
        return (passage.text for passage in self.passages)


def _paragraphs(row: Row) -> list[Passage]:
    return [
        Passage(f"{row.identity('document_id')}#{place}", text.strip())
        for place, text in enumerate(row.text("text").split("\n\n"), start=1)
        if text.strip()
    ]


def _text(passage: Passage) -> str:
    return passage.text


def _dump(passage: Passage) -> bytes:
    return orjson.dumps([passage.passage_id, passage.text])


def _load(data: bytes) -> Passage:
    return Passage(*orjson.loads(data))


_RECIPE: Recipe[Passage] = Recipe(
    shape="{document_id, text}",
    make=_paragraphs,
    text=_text,
    tokens=tokenise,
    dump=_dump,
    load=_load,
    version=["paragraphs, 1", TOKENS_VERSION],
)
