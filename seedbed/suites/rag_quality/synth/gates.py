"""What a written case must pass. The order is that of the checks; the first that fails names the reject."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.lm.language import detect
from seedbed.suites.rag_quality.matching import similarity
from seedbed.suites.rag_quality.synth.prompts import Quote
from seedbed.suites.rag_quality.synth.scenarios import Scenario

GATES = ("written", "quotes", "hops", "language", "self_contained", "duplicate", "answerable", "single_unit")
"""`written` stands for a model that gave nothing usable; the last two are the judge's."""

NEAR_DUPLICATE = 0.8
_LEANS_ON_TEXT = re.compile(
    r"\b(?:according to|in|from|based on) (?:the|this|these|that) (?:\w+ )?(?:text|passage|document|excerpt)s?\b"
    r"|\b(?:according to|based on|in) (?:this|these) (?:context|article|unit|paragraph|section)s?\b"
    r"|\b(?:the|this) (?:text|passage|excerpt|paragraph) (?:says?|states?|mentions?|describes?)"
    r"|(?:根据|依据|按照|从)(?:上述|以上|该|本|这[段篇份个])?(?:文[中本章档]|段落|材料|资料|内容|上下文|原文|单元)|(?<![中英语日])文中(?:提到|所述|说)?"
    r"|(?:本文|文章|文書|上記|この文|この段落|資料)(?:に|で|の中)"
    r"|(?:وفق[اً]*|حسب|بحسب|في) (?:ل)?(?:هذا |ال)?(?:لنص|النص|الوثيقة|المقطع|الفقرة|نص)"
    r"|\b(?:laut|gemäß) (?:dem|diesem) (?:text|dokument|abschnitt)|\bsegún el (?:texto|documento|pasaje)",
    re.IGNORECASE,
)
_LATIN_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote for a scenario."""

    question: str
    answer: str
    quotes: Sequence[Quote]


def failed_gate(scenario: Scenario, written: Written, accepted: Sequence[str]) -> tuple[str, str] | None:
    """The first deterministic gate that the case fails, with the reason; None if it passes all."""
    checks = (
        ("written", _blank(written)),
        ("quotes", _misquoted(scenario, written)),
        ("hops", _too_few_units(scenario, written)),
        ("language", _other_language(scenario, written)),
        ("self_contained", _leaning(written)),
        ("duplicate", _duplicate(written, accepted)),
    )
    return next(((gate, reason) for gate, reason in checks if reason), None)


def _blank(written: Written) -> str:
    return "" if written.question.strip() and written.answer.strip() else "the question or the answer is empty"


def _misquoted(scenario: Scenario, written: Written) -> str:
    """Every quote is there word for word, in the unit it is said to come from."""
    if not written.quotes:
        return "no evidence is quoted"
    for quote in written.quotes:
        if not 1 <= quote.unit <= len(scenario.units):
            return f"a quote names unit {quote.unit}, but there are {len(scenario.units)}"
        if not quote.text.strip() or quote.text not in scenario.units[quote.unit - 1].text:
            return f"not in unit {quote.unit} word for word: {quote.text[:80]!r}"
    return ""


def _too_few_units(scenario: Scenario, written: Written) -> str:
    quoted = {quote.unit for quote in written.quotes}
    return "multi-hop, but the quotes come from one unit" if scenario.multi_hop and len(quoted) < 2 else ""


def _other_language(scenario: Scenario, written: Written) -> str:
    source = "\n".join(unit.text for unit in scenario.units)
    if same_language(written.question, source) and same_language(written.answer, source):
        return ""
    return f"the units are in {detect(source)!r}, the question or the answer is not"


def same_language(text: str, source: str) -> bool:
    """By detection; for Latin scripts, where that knows few languages, words that the source uses count too."""
    if detect(text) == detect(source):
        return True
    words = _LATIN_WORD.findall(text.lower())
    known = Counter(_LATIN_WORD.findall(source.lower()))
    latin = all(word.isascii() or max(word) < "\u0250" for word in words)
    return latin and bool(words) and sum(word in known for word in words) * 2 >= len(words)


def _leaning(written: Written) -> str:
    found = _LEANS_ON_TEXT.search(written.question)
    return f"the question leans on a text that its reader does not have: {found.group()!r}" if found else ""


def _duplicate(written: Written, accepted: Sequence[str]) -> str:
    for question in accepted:
        if similarity(written.question, question) >= NEAR_DUPLICATE:
            return f"nearly the same as {question[:80]!r}"
    return ""
