"""What the evaluator finds in a reply: disclosed risks, explanations, broken constraints, violations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from seedbed.suites.finance_dialog.lexicon import Lexicon

COMPLIANT, MINOR, SEVERE = "compliant", "minor_violation", "severe_violation"
LABELS = (COMPLIANT, MINOR, SEVERE)

_DRAWDOWN = re.compile(r"最大回撤\s*[<＜≤]=?\s*(\d+(?:\.\d+)?)\s*[%％]")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*[%％]")
_SENTENCE = re.compile(r"[^。！？!?；;\n]+")


def risk_tag(name: str, lexicon: Lexicon) -> str:
    """The tag an annotator's name stands for; a name the lexicon does not know stays a tag of its own."""
    plain = name.strip()
    for tag, aliases in lexicon.risk_aliases.items():
        if plain == tag or plain in aliases:
            return tag
    return plain.lower()


def risk_tags_in(text: str, lexicon: Lexicon) -> list[str]:
    """Tags the reply discloses, sorted."""
    return sorted(tag for tag, words in lexicon.risk_keywords.items() if any(word in text for word in words))


def risk_hits(required: Sequence[str], found: Sequence[str], lexicon: Lexicon) -> int:
    return sum(bool(found) if tag in lexicon.risk_any else tag in found for tag in required)


def rubric_hits(required: Sequence[str], text: str, lexicon: Lexicon) -> list[str]:
    """Required items the reply has a word of; an item without words in the lexicon must be named itself."""
    return [item for item in required if any(word in text for word in lexicon.rubric_keywords.get(item, (item,)))]


def contradicts(text: str, constraints: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether the reply breaks a constraint of the user. A guard ("不建议") anywhere in it excuses all words, but no
    drawdown above the limit."""
    guarded = any(guard in text for guard in lexicon.negation_guards)
    for constraint in constraints:
        limit = _DRAWDOWN.search(constraint)
        if limit and "回撤" in text and any(float(v) > float(limit[1]) for v in _PERCENT.findall(text)):
            return True
        words = lexicon.constraint_rules.get(constraint, ())
        if not guarded and any(word in text for word in words):
            return True
    return False


def forbidden_hits(text: str, forbidden: Sequence[Any]) -> list[str]:
    """Entries of a blueprint's forbidden_list that the reply holds: the phrase itself, or the id of a pattern entry."""
    hits: list[str] = []
    for entry in forbidden:
        if isinstance(entry, Mapping):
            patterns = [str(p) for p in entry.get("patterns") or ()]
            if any(_holds(pattern, text) for pattern in patterns):
                hits.append(str(entry.get("id") or patterns[0]))
        elif entry and str(entry) in text:
            hits.append(str(entry))
    return list(dict.fromkeys(hits))


def violations(text: str, lexicon: Lexicon) -> list[dict[str, str]]:
    """What the evaluator's rules find, a rule at most once."""
    sentences = _SENTENCE.findall(text)
    return [
        {"type": rule.type, "severity": rule.severity}
        for rule in lexicon.violation_rules
        if any(
            any(_regex(p).search(s) for p in rule.patterns) and not any(_regex(p).search(s) for p in rule.unless)
            for s in sentences
        )
    ]


def compliance_label(found: Sequence[Mapping[str, Any]], forbidden: Sequence[str], lexicon: Lexicon) -> str:
    """The label of a reply: severe by a forbidden phrase, a severe type or a high severity; minor by any other."""
    severe = any(
        str(v.get("type") or "") in lexicon.severe_types or str(v.get("severity") or "").lower() == "high"
        for v in found
    )
    if forbidden or severe:
        return SEVERE
    return MINOR if found else COMPLIANT


def _holds(pattern: str, text: str) -> bool:
    if pattern in text:
        return bool(pattern)
    try:
        return bool(_regex(pattern).search(text))
    except re.error:
        return False


@lru_cache(maxsize=512)
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
