"""Which documents are put before the systems. Every system asks here, so all see the same candidates."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.errors import UserError
from seedbed.suite import PhaseContext
from seedbed.suites.crosslingual.bm25 import Bm25Index
from seedbed.suites.crosslingual.diskcache import build_once, folder_for
from seedbed.suites.crosslingual.options import CorpusOptions
from seedbed.suites.kit.embedding import Embedder, Reranker, weights_name, why_unusable

if TYPE_CHECKING:
    from seedbed.suites.crosslingual.dense import DenseIndex


@dataclass(frozen=True, slots=True)
class Document:
    doc_id: str
    lang: str
    title: str
    text: str
    other_titles: tuple[str, ...] = ()
    """Its title in other languages, as an encyclopedia's language links give them: indexed, not shown."""
    built_from: frozenset[str] = field(default_factory=frozenset[str])
    """Questions whose answers this document was made from; it is kept out of their benchmark's index."""

    @property
    def block(self) -> str:
        """The document as a model reads it and a translator gets it."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def indexed(self) -> str:
        return "\n".join((self.title, *self.other_titles, self.text))


@dataclass(frozen=True, slots=True)
class Candidate:
    document: Document
    score: float
    relative: float = 1.0
    """The score as a share of the best candidate's: comparable over retrievers, between 0 and 1."""


Ranking = list[tuple[int, float]]


class Corpus:
    """The documents of a benchmark and how they are searched. Indexes are opened at the first question."""

    def __init__(self, documents: Sequence[Document], options: CorpusOptions | None = None) -> None:
        self.documents = tuple(documents)
        self.options = options or CorpusOptions()
        self._texts = [document.indexed for document in self.documents]
        self._found: dict[str, list[Candidate]] = {}
        self._bm25: Bm25Index | None = None
        self._dense: DenseIndex | None = None
        self._opening = threading.Lock()

    async def candidates(self, question: str, context: PhaseContext) -> list[Candidate]:
        """The best `top_k` documents, best first. A question is searched for once, whoever asks; with an endpoint each
        cell asks the ledger, for a cell's account must not depend on which cell came first."""
        known = self._found.get(question)
        if known is not None and self.options.retriever != "endpoint":
            return known
        ranking = await self._rank(question, context) if self.documents else []
        best = ranking[0][1] if ranking and ranking[0][1] > 0 else 1.0
        kept = ranking[: self.options.top_k]
        found = [Candidate(self.documents[place], score, score / best) for place, score in kept]
        self._found[question] = found
        return found

    async def _rank(self, question: str, context: PhaseContext) -> Ranking:
        options = self.options
        wanted = options.top_k if options.reranker is None else max(options.pool, options.top_k)
        match options.retriever:
            case "bm25":
                ranking = self._words(context.cache_dir).search(question, wanted)
            case "bge_m3":
                ranking = await asyncio.to_thread(self._by_local_vectors, question, wanted, context.cache_dir)
            case "endpoint":
                ranking = await self._by_endpoint(question, wanted, context)
        if options.reranker is None:
            return ranking
        return await asyncio.to_thread(self._reranked, options.reranker, question, ranking)

    def _words(self, cache_dir: Path) -> Bm25Index:
        with self._opening:
            if self._bm25 is None:
                self._bm25 = Bm25Index(self._texts, cache_dir)
            return self._bm25

    def _by_local_vectors(self, question: str, k: int, cache_dir: Path) -> Ranking:
        from seedbed.suites.crosslingual import dense

        weights = self.options.embedder
        reason = why_unusable(weights, "embedder", "bge-m3")
        if reason or weights is None:
            raise UserError(f"retriever bge_m3: {reason}, or take bm25.")
        embedder = Embedder(weights)
        with self._opening:
            if self._dense is None:
                folder = folder_for(cache_dir, "dense", [weights_name(weights), self._texts])
                build_once(folder, lambda new: dense.DenseIndex.save(new, embedder(self._texts)))
                self._dense = dense.DenseIndex(folder)
        return self._dense.search(embedder([question]), k)

    async def _by_endpoint(self, question: str, k: int, context: PhaseContext) -> Ranking:
        from seedbed.suites.crosslingual import dense

        if not context.has_role("embedding"):
            raise UserError("retriever: endpoint needs `roles: {embedding: NAME}`, a model with an api_base.")
        embedder = context.embedder("embedding")
        if self._dense is None:
            folder = folder_for(context.cache_dir, "dense", [embedder.model_name, self._texts])
            if not folder.is_dir():
                vectors = await asyncio.to_thread(embedder, self._texts)
                build_once(folder, lambda new: dense.DenseIndex.save(new, vectors))
            self._dense = dense.DenseIndex(folder)
        # In a thread, since an optimizer asks from a loop that is not the runtime's.
        return self._dense.search(await asyncio.to_thread(embedder, [question]), k)

    def _reranked(self, folder: Path, question: str, ranking: Ranking) -> Ranking:
        reason = why_unusable(folder, "reranker", "bge-reranker-v2-m3")
        if reason:
            raise UserError(f"retriever: {reason}.")
        places = [place for place, _ in ranking]
        scores = Reranker(folder)(question, [self.documents[place].block for place in places])
        return sorted(zip(places, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
