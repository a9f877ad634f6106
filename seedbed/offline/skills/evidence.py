"""Ranks the sentences of documents by how likely they hold the answer to a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from seedbed.lm import language
from seedbed.offline import text as texts
from seedbed.offline.lexicon import Lexicon
from seedbed.offline.spans import spans

Feature = int | str
"""A concept by its number, or a term of the language at hand."""

_FROM_PASSAGE = 0.6  # "It opened in 1934": what only the sentences around a sentence say counts this much for it
_NO_SPAN = 0.4  # a sentence without an answer of the right kind keeps this share of its score
_LOOKED_INTO = 6  # sentences that are searched for such an answer; for the others it is not worth the time


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence with its score: about 0 when it has nothing to do with the question, about 1 when it says the same."""

    sentence: str
    language: str
    score: float


def rank(question: str, passages: Iterable[str], lexicon: Lexicon, *, foreign: float) -> list[Evidence]:
    """Best first. Sentences in another language than the question's compare by concepts, and keep `foreign` of it."""
    spoken = language.detect(question)
    groups = [(language.detect(p), [(s, _features(s, lexicon)) for s in texts.sentences(p)]) for p in passages]
    seen = Counter(feature for _, group in groups for _, features in group for feature in features)
    total = sum(len(group) for _, group in groups)
    wanted = _features(question, lexicon)
    weights = {feature: _weight(feature, seen[feature], total) for feature in wanted}
    by_concept: dict[Feature, float] = {feature: weights[feature] for feature in wanted if isinstance(feature, int)}
    scored: list[Evidence] = []
    for tongue, group in groups:
        asked, share = (weights, 1.0) if tongue == spoken else (by_concept, foreign)
        around = frozenset[Feature]().union(*(features for _, features in group))
        scored.extend(Evidence(s, tongue, share * _coverage(asked, features, around)) for s, features in group)
    scored.sort(key=lambda evidence: -evidence.score)
    likely = [
        evidence if spans(evidence.sentence, question, lexicon) else replace(evidence, score=evidence.score * _NO_SPAN)
        for evidence in scored[:_LOOKED_INTO]
    ]
    return sorted(likely, key=lambda evidence: -evidence.score)


def _features(text: str, lexicon: Lexicon) -> frozenset[Feature]:
    """Concepts that the text names, and the terms of its own language in what is left.

    A name is one feature: its letters would otherwise outweigh everything else that a question says.
    """
    mentions = lexicon.mentions(text)
    left = list(text)
    for mention in mentions:
        if mention.kind == "name":
            left[mention.start : mention.end] = " " * (mention.end - mention.start)
    return frozenset[Feature](mention.concept for mention in mentions) | texts.terms("".join(left))


def _weight(feature: Feature, seen: int, total: int) -> float:
    """Rare features tell more. A concept is a whole word or name where a term may be a fragment."""
    telling = math.log(1 + (total + 1) / (seen + 0.5))
    return telling * (2.0 if isinstance(feature, int) else 1.0)


def _coverage(asked: Mapping[Feature, float], said: frozenset[Feature], around: frozenset[Feature]) -> float:
    total = sum(asked.values())
    if not total:
        return 0.0
    return sum(w * (1.0 if f in said else _FROM_PASSAGE if f in around else 0.0) for f, w in asked.items()) / total
