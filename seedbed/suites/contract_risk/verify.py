"""Whether quoted evidence really stands in the clause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from seedbed.errors import UserError
from seedbed.suites.contract_risk.excerpts import Folded, alteration, containment, find_exact, fold, sentences
from seedbed.suites.contract_risk.options import why_no_flag
from seedbed.suites.kit.embedding import Embedder, Reranker

VerifierKind = Literal["flag", "lexical", "off"]
Finding = Literal["exact", "similar", "altered_number", "altered_negation", "no_match", "empty"]

LEXICAL_THRESHOLD = 0.8
_CANDIDATES = 3


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    excerpt: str
    valid: bool
    finding: Finding
    score: float | None = None
    """Of the best sentence; None where the excerpt was found or refused without one."""


class _Match(Protocol):
    def __call__(self, excerpt: str, candidates: Sequence[str]) -> tuple[int, float]:
        """The best of at least one sentence, and its score from 0 to 1."""
        ...


class Verifier:
    """Exact first; else the most similar sentence of the clause, if it is similar enough and no fact was changed."""

    def __init__(self, kind: VerifierKind, threshold: float, match: _Match | None) -> None:
        self.kind: VerifierKind = kind
        self.threshold = threshold
        self._match = match

    @property
    def stamp(self) -> str:
        """What stands on every row: figures of different stamps are never put in one table."""
        return self.kind if self.kind == "off" else f"{self.kind}>={self.threshold:g}"

    def check(self, clause: str, excerpts: Iterable[str]) -> list[EvidenceCheck] | None:
        """One finding an excerpt; None when evidence is not checked at all."""
        if self._match is None:
            return None
        folded = fold(clause)
        parts = sentences(clause)
        return [self._one(excerpt, folded, parts, self._match) for excerpt in excerpts]

    def _one(self, excerpt: str, clause: Folded, parts: Sequence[str], match: _Match) -> EvidenceCheck:
        own = fold(excerpt)
        if not own.letters:
            return EvidenceCheck(excerpt, False, "empty")
        found = find_exact(own, clause)
        if found is not None:
            return EvidenceCheck(excerpt, found == "exact", found)
        if not parts:
            return EvidenceCheck(excerpt, False, "no_match")
        best, score = match(excerpt, parts)
        if score < self.threshold:
            return EvidenceCheck(excerpt, False, "no_match", score)
        changed = alteration(own, fold(parts[best]))
        return EvidenceCheck(excerpt, changed is None, changed or "similar", score)


def make_verifier(
    kind: VerifierKind, *, embedder: Path | None = None, reranker: Path | None = None, threshold: float = 0.5
) -> Verifier:
    """The verifier of that kind. `threshold` is the reranker's; the lexical one has its own."""
    if kind == "off":
        return Verifier("off", 0.0, None)
    if kind == "lexical":
        return Verifier("lexical", LEXICAL_THRESHOLD, _lexical)
    reason = why_no_flag(embedder, reranker)
    if reason or embedder is None or reranker is None:
        raise UserError(f"verifier flag: {reason}.")
    return Verifier("flag", threshold, _flag_match(Embedder(embedder), Reranker(reranker)))


def one_verifier(stamps: Iterable[str]) -> str | None:
    """The stamp that all rows share; rows that were checked differently cannot stand in one table."""
    distinct = sorted(set(stamps))
    if len(distinct) > 1:
        raise UserError(
            f"evidence was checked by different verifiers ({', '.join(distinct)}); their rates do not compare: run all "
            "with one `verifier`."
        )
    return distinct[0] if distinct else None


def _lexical(excerpt: str, candidates: Sequence[str]) -> tuple[int, float]:
    own = fold(excerpt)
    return _best([containment(own, fold(candidate)) for candidate in candidates])


def _flag_match(embedder: Embedder, reranker: Reranker) -> _Match:
    def match(excerpt: str, candidates: Sequence[str]) -> tuple[int, float]:
        near = embedder.similarity(excerpt, candidates)
        top = sorted(range(len(candidates)), key=lambda i: -near[i])[:_CANDIDATES]
        place, score = _best(reranker(excerpt, [candidates[i] for i in top]))
        return top[place], score

    return match


def _best(scores: Sequence[float]) -> tuple[int, float]:
    place = max(range(len(scores)), key=lambda i: scores[i])
    return place, scores[place]
