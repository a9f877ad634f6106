"""Which documents are put before the systems. Every system asks here, so all see the same candidates."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.errors import UserError
from seedbed.suite import PhaseContext
from seedbed.suites.crosslingual.documents import Document, searchable
from seedbed.suites.crosslingual.options import CorpusOptions
from seedbed.suites.kit.embedding import Embedder, Reranker, weights_name, why_unusable
from seedbed.suites.kit.retrieval.collection import Collection
from seedbed.suites.kit.retrieval.postings import Ranking
from seedbed.suites.kit.retrieval.search_threads import in_search_thread
from seedbed.suites.kit.retrieval.vectors import VectorIndex, kept_vectors

if TYPE_CHECKING:
    from seedbed.suites.kit.embedding import Vectors


@dataclass(frozen=True, slots=True)
class Candidate:
    document: Document
    score: float
    relative: float = 1.0
    """The score as a share of the best candidate's: comparable over retrievers, between 0 and 1."""


class Corpus:
    """The documents of a benchmark and how they are searched. Indexes are opened at the first question."""

    def __init__(
        self, documents: Sequence[Document] | Collection[Document], options: CorpusOptions | None = None
    ) -> None:
        self._words = documents if isinstance(documents, Collection) else searchable(documents)
        self.options = options or CorpusOptions()
        self._found: dict[str, list[Candidate]] = {}
        self._dense: VectorIndex | None = None
        self._opening = threading.Lock()

    @property
    def documents(self) -> Sequence[Document]:
        return self._words.things

    async def candidates(self, question: str, context: PhaseContext) -> list[Candidate]:
        """The best `top_k` documents, best first. A question is searched for once, whoever asks; with an endpoint each
        cell asks the ledger, for a cell's account must not depend on which cell came first."""
        known = self._found.get(question)
        if known is not None and self.options.retriever != "endpoint":
            return known
        ranking = await self._rank(question, context) if len(self._words) else []
        best = ranking[0][1] if ranking and ranking[0][1] > 0 else 1.0
        kept = ranking[: self.options.top_k]
        found = [Candidate(self.documents[place], score, score / best) for place, score in kept]
        return self._found.setdefault(question, found)

    async def _rank(self, question: str, context: PhaseContext) -> Ranking:
        options = self.options
        wanted = options.top_k if options.reranker is None else max(options.pool, options.top_k)
        match options.retriever:
            case "bm25":
                ranking = await in_search_thread(self._words.best, question, wanted)
            case "bge_m3":
                ranking = await in_search_thread(self._by_local_vectors, question, wanted, context.cache_dir)
            case "endpoint":
                ranking = await self._by_endpoint(question, wanted, context)
        if options.reranker is None:
            return ranking
        return await in_search_thread(self._reranked, options.reranker, question, ranking)

    def _by_local_vectors(self, question: str, k: int, cache_dir: Path) -> Ranking:
        weights = self.options.embedder
        reason = why_unusable(weights, "embedder", "bge-m3")
        if reason or weights is None:
            raise UserError(f"retriever bge_m3: {reason}, or take bm25.")
        embedder = Embedder(weights)
        index = self._vectors(cache_dir, weights_name(weights), embedder)
        return index.best(embedder([question]), k, above=0.0)

    async def _by_endpoint(self, question: str, k: int, context: PhaseContext) -> Ranking:
        if not context.has_role("embedding"):
            raise UserError("retriever: endpoint needs `roles: {embedding: NAME}`, a model with an api_base.")
        embedder = context.embedder("embedding")
        index = await in_search_thread(self._vectors, context.cache_dir, embedder.model_name, embedder)
        # In a thread, since an optimizer asks from a loop that is not the runtime's.
        asked = await asyncio.to_thread(embedder, [question])
        return await in_search_thread(index.best, asked, k, above=0.0)

    def _vectors(self, cache_dir: Path, model: Any, embed: Callable[[Sequence[str]], Vectors]) -> VectorIndex:
        with self._opening:
            if self._dense is None:
                # A corpus that is kept has a name already; texts in memory are theirs.
                made_from = [model, self._words.name or [document.indexed for document in self.documents]]
                texts = _Indexed(self.documents)
                self._dense = kept_vectors(cache_dir / "crosslingual", made_from, texts, embed, "the corpus")
            return self._dense

    def _reranked(self, folder: Path, question: str, ranking: Ranking) -> Ranking:
        reason = why_unusable(folder, "reranker", "bge-reranker-v2-m3")
        if reason:
            raise UserError(f"retriever: {reason}.")
        places = [place for place, _ in ranking]
        scores = Reranker(folder)(question, [self.documents[place].block for place in places])
        return sorted(zip(places, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True, slots=True)
class _Indexed:
    """The texts of documents, one after the other."""

    documents: Sequence[Document]

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[str]:
        return (document.indexed for document in self.documents)
