"""Which candidates are worth their translation: greedy by worth per token, under a budget.

Cost never falls as the budget grows. Take the first item, in greedy order, that the larger budget takes and the smaller
does not: it did not fit there, so what the larger one has spent by then is already more than the smaller budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from seedbed.suites.crosslingual.retrieval import Candidate
from seedbed.suites.crosslingual.scripts import base_language
from seedbed.suites.crosslingual.segments import Segment, segments, tokens_of

Level = Literal["auto", "document", "sentence"]
Budget = float | Literal["inf"]

PIVOT_SHARE = 0.6
DEFAULT_PIVOT = "en"
CONFIDENCE_SAME, CONFIDENCE_ENGLISH, CONFIDENCE_OTHER = 1.0, 0.9, 0.7


@dataclass(frozen=True, slots=True)
class Item:
    """What competes for the budget: s, k and c of the formula rho = s*k/c."""

    score: float
    confidence: float
    tokens: int

    @property
    def rho(self) -> float:
        return self.score * self.confidence / self.tokens if self.tokens else math.inf


@dataclass(frozen=True, slots=True)
class Selection:
    """What of the candidates is translated into the pivot, by their places in the list."""

    pivot: str
    whole: frozenset[int] = frozenset()
    parts: Mapping[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """Candidate -> the sentences of it, by their places in its segments."""
    tokens: int = 0


def greedy(items: Sequence[Item], budget: float) -> list[int]:
    """Places of the items taken, in the order of taking: best rho first, ties in the order given. One that does not fit
    is passed over, and cheaper ones behind it may still fit."""
    taken: list[int] = []
    left = budget
    for place in sorted(range(len(items)), key=lambda i: -items[i].rho):
        if items[place].tokens <= left:
            taken.append(place)
            left -= items[place].tokens
    return taken


def confidence(source: str, pivot: str) -> float:
    """How far a translation may be trusted before it is seen."""
    languages = {base_language(source), base_language(pivot)}
    if len(languages) == 1:
        return CONFIDENCE_SAME
    return CONFIDENCE_ENGLISH if "en" in languages else CONFIDENCE_OTHER


def pivot_of(candidates: Sequence[Candidate], language: str) -> str:
    """The question's language where enough candidates are in it already, else English."""
    own = sum(base_language(c.document.lang) == base_language(language) for c in candidates)
    return language if candidates and own >= PIVOT_SHARE * len(candidates) else DEFAULT_PIVOT


def select_all(candidates: Sequence[Candidate], pivot: str) -> Selection:
    """Everything that is not in the pivot yet."""
    foreign = [i for i, c in enumerate(candidates) if _is_foreign(c, pivot)]
    return Selection(pivot, frozenset(foreign), tokens=sum(_tokens(candidates[i]) for i in foreign))


def select(
    candidates: Sequence[Candidate],
    question: str,
    language: str,
    *,
    budget: Budget,
    pivot: str | None = None,
    level: Level = "auto",
) -> Selection:
    """What the budget buys. Candidates in the pivot or in the question's language are left as they are, at no cost,
    unless there is no budget at all: then nothing stays that is not in the pivot."""
    pivot = pivot or pivot_of(candidates, language)
    if budget == "inf":
        return select_all(candidates, pivot)
    allowed = _allowed(float(budget), candidates)
    rest = [i for i, c in enumerate(candidates) if _is_foreign(c, pivot) and _is_foreign(c, language)]
    whole: set[int] = set()
    if level != "sentence":
        items = [_item(candidates[i], pivot, _tokens(candidates[i])) for i in rest]
        whole.update(rest[place] for place in greedy(items, allowed))
    spent = sum(_tokens(candidates[i]) for i in whole)
    parts: dict[int, set[int]] = {}
    if level != "document":
        places = [(i, n) for i in rest if i not in whole for n in _priced(candidates[i])]
        items = [_sentence_item(candidates[i], n, question, pivot) for i, n in places]
        for place in greedy(items, allowed - spent):
            parts.setdefault(places[place][0], set()).add(places[place][1])
            spent += items[place].tokens
    return Selection(pivot, frozenset(whole), {i: frozenset(chosen) for i, chosen in parts.items()}, spent)


def _allowed(budget: float, candidates: Sequence[Candidate]) -> float:
    return budget * sum(map(_tokens, candidates)) if 0 < budget < 1 else budget


def _is_foreign(candidate: Candidate, language: str) -> bool:
    # A text of no tokens needs no translation, whatever language it is said to be in.
    return base_language(candidate.document.lang) != base_language(language) and _tokens(candidate) > 0


def _item(candidate: Candidate, pivot: str, tokens: int, closeness: float = 1.0) -> Item:
    return Item(candidate.relative * closeness, confidence(candidate.document.lang, pivot), tokens)


def _sentence_item(candidate: Candidate, number: int, question: str, pivot: str) -> Item:
    """A sentence that says what the question says is worth what its document is, one that shares nothing a quarter."""
    from seedbed.suites.kit.tokenise import tokenise

    segment = _segments(candidate)[number]
    asked = set(tokenise(question))
    shared = len(asked & set(tokenise(segment.text))) / len(asked) if asked else 0.0
    return _item(candidate, pivot, segment.tokens, 0.25 + 0.75 * shared)


def _segments(candidate: Candidate) -> tuple[Segment, ...]:
    return segments(candidate.document.block, candidate.document.lang)


def _priced(candidate: Candidate) -> list[int]:
    """The sentences that compete. A title does not: it is cheap, says little, and would always win."""
    first = 1 if candidate.document.title else 0
    return [number for number, segment in enumerate(_segments(candidate)) if number >= first and segment.tokens]


def _tokens(candidate: Candidate) -> int:
    return tokens_of(candidate.document.block, candidate.document.lang)
