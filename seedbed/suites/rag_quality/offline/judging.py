"""Breaks a text into statements, and judges statements, contexts and answers. The shapes are those of RAG metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from seedbed.lm import language
from seedbed.offline.skill import Call, Skill, asks_for, kind_of, texts, uniform
from seedbed.suites.rag_quality.offline.clauses import asserts_nothing, clauses
from seedbed.suites.rag_quality.offline.support import ENTAILED, RELEVANT, coverage, is_about, support, terms_of

_BORDERLINE = 0.08  # judgements nearer than this to the threshold are hard ones
_EASY = 0.15  # by so much likelier is an easy judgement to be right than a hard one
_ON_TOPIC = 0.25
_PARTLY = 0.6
_BARE_ANSWER_WORDS = 6
_MEASURE = re.compile(
    r"\bwhat (?:is|was|are|were) (?:the )?(?:\w+ ){0,2}"
    r"(?:minimum|maximum|lowest|highest|price|cost|fee|rate|percentage|amount|size)\b",
    re.IGNORECASE,
)
_REASONS = {
    "en": ("The text says so.", "The text does not say so."),
    "zh": ("文中有此内容。", "文中没有此内容。"),
    "ja": ("本文にそうあります。", "本文にはありません。"),
    "ar": ("النص يقول ذلك.", "النص لا يقول ذلك."),
    "de": ("Der Text sagt es.", "Der Text sagt es nicht."),
    "es": ("El texto lo dice.", "El texto no lo dice."),
}


def numbered_texts(value: str) -> list[tuple[int, str]]:
    """Texts with their indexes, as a list of {index, text} reads in a prompt."""
    try:
        items: Any = json.loads(value)
    except ValueError:
        return list(enumerate(texts.passages(value), start=1))
    rows = cast("list[dict[str, Any]]", items if isinstance(items, list) else [])
    return [(int(row["index"]), str(row["text"])) for row in rows]


def decides(call: Call, decision: str, strength: float, threshold: float) -> bool:
    """Whether the strength passes. A model errs on hard cases first: on easy ones only where it has little ability."""
    right = strength >= threshold
    hard = abs(strength - threshold) < _BORDERLINE
    allowed = call.chance.ability if hard else min(1.0, call.chance.ability + _EASY)
    draw = uniform(call.chance.seed, decision)
    noisy = call.chance.noise > 0 and uniform(call.chance.seed, decision, "noise") < call.chance.noise
    return right if draw < allowed and not noisy else not right


def verdict(index: int, text: str, holds: bool) -> dict[str, object]:
    reasons = _REASONS.get(language.detect(text), _REASONS["en"])
    return {"index": index, "reason": reasons[0 if holds else 1], "holds": holds}


def _decompose(call: Call) -> Mapping[str, object]:
    statements = list(clauses(call.prompt.inputs["text"]))
    if len(statements) > 1 and not decides(call, "decompose", 1.0, 0.5):
        statements[:2] = [", ".join(statements[:2])]  # a poor judge leaves together what says two things
    return {"makes_claims": bool(statements), "statements": statements}


def _verify(call: Call) -> Mapping[str, object]:
    contexts = [text for _, text in numbered_texts(call.prompt.inputs["contexts"])]
    return {"verdicts": _supported(call, "verify", numbered_texts(call.prompt.inputs["statements"]), contexts)}


def _compare(call: Call) -> Mapping[str, object]:
    answer = numbered_texts(call.prompt.inputs["answer_statements"])
    reference = numbered_texts(call.prompt.inputs["reference_statements"])
    question = call.prompt.inputs.get("question", "")
    return {
        "answer_verdicts": _supported(call, "answer", answer, _as_passages(reference), question),
        "reference_verdicts": _supported(call, "reference", reference, _as_passages(answer), question),
    }


def _as_passages(statements: Sequence[tuple[int, str]]) -> list[str]:
    """One passage of all: what a later statement leaves out, an earlier one has named."""
    return ["\n".join(text for _, text in statements)]


def _supported(
    call: Call, decision: str, statements: Sequence[tuple[int, str]], contexts: Sequence[str], about: str = ""
) -> list[dict[str, object]]:
    return [
        verdict(index, text, decides(call, f"{decision} {index}", support(text, contexts, about=about), ENTAILED))
        for index, text in statements
    ]


def _judge_contexts(call: Call) -> Mapping[str, object]:
    question = call.prompt.inputs["question"]
    reference = call.prompt.inputs.get("reference_answer")
    verdicts: list[dict[str, object]] = []
    for index, text in numbered_texts(call.prompt.inputs["contexts"]):
        strength, threshold = is_about(question, text), RELEVANT
        if reference is not None:
            strength, threshold = max(support(c, [text]) for c in clauses(reference) or (reference,)), ENTAILED
        verdicts.append(verdict(index, text, decides(call, f"context {index}", strength, threshold)))
    return {"verdicts": verdicts}


def _relevancy(call: Call) -> Mapping[str, object]:
    question, answer = call.prompt.inputs["question"], call.prompt.inputs["answer"]
    said = [sentence for sentence in texts.sentences(answer) if not asserts_nothing(sentence)]
    measures = kind_of(question) != "name" or bool(_MEASURE.search(question))
    fits_kind = not measures or bool(terms_of(answer).numbers)
    bare = len(texts.words(answer)) <= _BARE_ANSWER_WORDS and fits_kind
    on_topic = [s for s in said if coverage(terms_of(question), terms_of(s)) >= _ON_TOPIC]
    topical = decides(call, "relevancy", float(bool(on_topic) or (bool(said) and bare)), 0.5)
    direct = topical and fits_kind
    beside = max(0, len(said) - max(1, len(on_topic)))
    score = 0.0 if not topical else max(_PARTLY, 1.0 - 0.1 * beside) if direct else _PARTLY
    reasons = _REASONS.get(language.detect(answer), _REASONS["en"])
    return {
        "reason": reasons[0 if direct else 1],
        "direct": direct,
        "complete": direct,
        "off_topic": not topical,
        "score": score,
    }


JUDGING: tuple[Skill, ...] = (
    Skill("decompose", lambda p: asks_for(p, {"text"}, {"statements", "makes_claims"}), _decompose),
    Skill(
        "compare",
        lambda p: asks_for(p, {"answer_statements", "reference_statements"}, {"answer_verdicts", "reference_verdicts"}),
        _compare,
    ),
    Skill("verify", lambda p: asks_for(p, {"statements", "contexts"}, {"verdicts"}), _verify),
    Skill("judge contexts", lambda p: asks_for(p, {"question", "contexts"}, {"verdicts"}), _judge_contexts),
    Skill("judge relevancy", lambda p: asks_for(p, {"question", "answer"}, {"off_topic", "score"}), _relevancy),
)
