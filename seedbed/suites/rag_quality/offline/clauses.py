"""Cuts a text into clauses that say one thing each."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from seedbed.offline.skill import texts

_DIGIT = re.compile(r"\d")
_REFUSAL = re.compile(
    r"\b(?:i (?:do not|don't|cannot|can't|am unable to) (?:know|answer|say|tell|help)|i'?m (?:not sure|sorry)|no idea"
    r"|not enough information|cannot be (?:answered|determined))\b"
    r"|不知道|无法(?:回答|确定|得知)|不清楚|抱歉|没有(?:足够的|相关)信息|資料がありません|わかりません|分かりません|不明です"
    r"|لا أعرف|لا اعرف|لا أستطيع|لا توجد معلومات|weiß ich nicht|no lo sé",
    re.IGNORECASE,
)
# Marks after which a clause of Chinese may end; the enumeration comma joins nouns and is none of them.
_WIDE_CUT = re.compile(r"[，；;](?=.)|(?<=[でしてがりくきいおす])、(?=.)")
_DEPENDENT = re.compile(
    r"(?:如果|若|当|虽然|尽管|因为|由于|为了|除了|根据|按照|在(?=.*[时后前中]$)|对于|自从|只要|只有|每当)"
)
_OPENING = re.compile(
    r"^(?:且|并且?|而且|同时|但是?|另外|此外|而|也|そして|また|しかし|and|but|while|whereas|also|so|وهو|وهي)(?=[\s\W]|[^\x00-\x7f])\s*",
    re.IGNORECASE,
)
_COMMA_CUT = re.compile(
    r";\s+|,\s+(?=(?:and|but|while|whereas|although|und|aber|y|pero)\s)|،\s*(?=و)|؛\s*", re.IGNORECASE
)
_AND = re.compile(r"\s+(?=and\s)|\s+(?=und\s)|\s+(?=y\s)|\s+(?=و\w)", re.IGNORECASE)
_BARE_COMMA = re.compile(r",\s+(?=\w)")
_RANGE = re.compile(r"\b(?:between|from|zwischen|von|entre|بين)\b[^,;]*$", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|must|may|will|does|did|do|needs?|requires?|costs?|opens?|closes?|takes?|"
    r"holds?|gives?|lasts?|allows?|\w{3,}ed|ist|sind|hat|wird|es|son|tiene)\b",
    re.IGNORECASE,
)
_LONG_ENOUGH = 5  # words after ", and" that are a clause even without a verb that is known here
_SHORT_WIDE = 4  # characters below which a piece of Chinese says nothing alone


def asserts_nothing(sentence: str) -> bool:
    """A refusal, or a question."""
    return bool(_REFUSAL.search(sentence)) or sentence.rstrip("\"'”」").endswith(("?", "？", "؟"))


@lru_cache(maxsize=8192)
def clauses(text: str) -> tuple[str, ...]:
    """The clauses of all sentences that assert something, in order."""
    found: list[str] = []
    for sentence in texts.sentences(text):
        if not asserts_nothing(sentence):
            found.extend(_cut(sentence))
    return tuple(found)


def _cut(sentence: str) -> list[str]:
    wide = sum(texts.is_wide(char) for char in sentence) * 3 > len(sentence)
    pieces = _cut_wide(sentence) if wide else _cut_spaced(sentence)
    cleaned = [_OPENING.sub("", piece.strip(" ,，、;；。.…؛،\n")) for piece in pieces]
    return [piece for piece in cleaned if any(char.isalnum() for char in piece)]


def _cut_wide(sentence: str) -> list[str]:
    """At commas, but a condition stays with what depends on it and a fragment with its neighbour."""
    joined: list[str] = []
    start = 0
    for cut in [*(match.span() for match in _WIDE_CUT.finditer(sentence)), (len(sentence), len(sentence))]:
        piece = sentence[start : cut[0]]
        start = cut[1]
        hangs = bool(joined) and (_DEPENDENT.match(joined[-1].strip()) is not None or len(piece.strip()) < _SHORT_WIDE)
        if hangs and joined[-1].count("，") < 2:
            joined[-1] = f"{joined[-1]}，{piece}"
        else:
            joined.append(piece)
    return joined


def _cut_spaced(sentence: str) -> list[str]:
    parts = _split(_COMMA_CUT, sentence, _stands_alone)
    parts = [piece for part in parts for piece in _split(_AND, part, _both_measure)]
    return [piece for part in parts for piece in _split(_BARE_COMMA, part, _new_figure)]


def _split(pattern: re.Pattern[str], text: str, allowed: Callable[[str, str], bool]) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in pattern.finditer(text):
        if allowed(text[start : match.start()], text[match.end() :]):
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    return parts


def _stands_alone(left: str, right: str) -> bool:
    words = len(texts.words(right)) - 1  # the conjunction says nothing
    return len(texts.words(left)) >= 3 and (
        words >= _LONG_ENOUGH or (words >= 2 and bool(_DIGIT.search(right) or _VERB.search(right)))
    )


def _both_measure(left: str, right: str) -> bool:
    """Two figures of two things: "a 3.5% down payment and a score of 580", not "between 1921 and 1934"."""
    if _RANGE.search(left):
        return False
    named = [word for word in texts.words(right) if not _DIGIT.search(word.group())]
    both_figures = bool(_DIGIT.search(left) and _DIGIT.search(right)) and len(named) >= 2
    both_verbs = bool(_VERB.search(left) and _VERB.search(right)) and len(named) >= 4
    return len(texts.words(left)) >= 3 and (both_figures or both_verbs)


def _new_figure(left: str, right: str) -> bool:
    """ "The down payment is 3.5%, credit score at least 580", but not "On 3 May 1934, 200 people came"."""
    return (
        bool(_VERB.search(left)) and bool(_DIGIT.search(left) and _DIGIT.search(right)) and _both_measure(left, right)
    )
