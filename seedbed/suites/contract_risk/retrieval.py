"""Which rules and law articles are put before the reviewer: BM25, joined by embeddings and a reranker where there are
weights. Without weights the second ranking is lexical too, and less sharp."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from seedbed.suites.contract_risk.contract_types import ContractTypes
from seedbed.suites.contract_risk.knowledge import LawText
from seedbed.suites.contract_risk.rules import Rule, RuleBook
from seedbed.suites.kit.embedding import Embedder, Reranker
from seedbed.suites.kit.retrieval.collection import in_memory
from seedbed.suites.kit.tokenise import tokenise

T = TypeVar("T")

FLAG_MIN_RELEVANCE = 0.5
LEXICAL_MIN_RELEVANCE = 0.08


@dataclass(frozen=True, slots=True)
class Models:
    """What finds and ranks beside words, where there are weights."""

    embedder: Embedder
    reranker: Reranker


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    item: T
    score: float


class Shelf(Generic[T]):
    """Texts that can be searched. `rerank` ranks the candidates again and leaves out what is not relevant enough."""

    def __init__(self, items: Sequence[T], text: Callable[[T], str], models: Models | None) -> None:
        self.items = tuple(items)
        self._texts = [text(item) for item in self.items]
        self._tokens = [tokenise(text) for text in self._texts]
        self._models = models
        self._index = in_memory(self._tokens)
        seen = Counter(token for tokens in self._tokens for token in set(tokens))
        self._rarity = {token: math.log(1 + len(self.items) / count) for token, count in seen.items()}

    def search(
        self,
        query: str,
        k: int,
        *,
        rerank: bool,
        candidates: int = 10,
        min_relevance: float | None = None,
        allowed: Callable[[T], bool] = lambda _: True,
    ) -> list[Found[T]]:
        """Best first, ties by the order of the items."""
        places = [i for i, item in enumerate(self.items) if allowed(item)]
        if not places:
            return []
        scores = self._index.scores(tokenise(query)).tolist()
        ranked = sorted((i for i in places if scores[i] > 0), key=lambda i: -scores[i])
        if not rerank:
            return [Found(self.items[i], scores[i]) for i in ranked[:k]]
        pool = ranked[:candidates]
        if self._models:
            cosines = self._models.embedder.similarity(query, [self._texts[i] for i in places])
            near = dict(zip(places, cosines, strict=True))
            pool = list(dict.fromkeys([*pool, *sorted(places, key=lambda i: -near[i])[:candidates]]))
        relevance = self._relevance(query, pool)
        least = self._least if min_relevance is None else min_relevance
        best = sorted((i for i in pool if relevance[i] >= least), key=lambda i: -relevance[i])
        return [Found(self.items[i], relevance[i]) for i in best[:k]]

    @property
    def _least(self) -> float:
        return FLAG_MIN_RELEVANCE if self._models else LEXICAL_MIN_RELEVANCE

    def _relevance(self, query: str, pool: Sequence[int]) -> dict[int, float]:
        if self._models:
            return dict(zip(pool, self._models.reranker(query, [self._texts[i] for i in pool]), strict=True))
        own = Counter(tokenise(query))
        return {i: self._cosine(own, Counter(self._tokens[i])) for i in pool}

    def _cosine(self, one: Counter[str], other: Counter[str]) -> float:
        def weight(tokens: Counter[str], token: str) -> float:
            return (1 + math.log(tokens[token])) * self._rarity.get(token, math.log(1 + len(self.items)))

        def length(tokens: Counter[str]) -> float:
            return math.sqrt(math.fsum(weight(tokens, token) ** 2 for token in tokens))

        shared = math.fsum(weight(one, token) * weight(other, token) for token in one.keys() & other.keys())
        return shared / (length(one) * length(other)) if shared else 0.0


class Library:
    """The rules and laws of a benchmark, ready to be searched."""

    def __init__(
        self,
        rules: Sequence[Rule],
        laws: Sequence[LawText],
        types: ContractTypes | None = None,
        embedder: Path | None = None,
        reranker: Path | None = None,
    ) -> None:
        models = Models(Embedder(embedder), Reranker(reranker)) if embedder and reranker else None
        self.book = RuleBook(rules, types)
        self.rules: Shelf[Rule] = Shelf(rules, _rule_text, models)
        self.laws: Shelf[LawText] = Shelf(laws, lambda law: f"{law.law}\n{law.text}", models)


def _rule_text(rule: Rule) -> str:
    return "\n".join((rule.name, " ".join((*rule.any_of, *rule.all_of)), rule.rationale))
