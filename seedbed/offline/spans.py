"""Finds the pieces of a sentence that could answer a question, best first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seedbed.offline import text as texts
from seedbed.offline.lexicon import Lexicon
from seedbed.offline.question import kind_of

_YEAR = re.compile(r"(?<![\d.,])(?:1\d{3}|20\d{2})(?![\d%]|[.,]\d)")
_ARABIC_INDIC = str.maketrans("٠١٢٣٤٥٦٧٨٩", "0123456789")
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,])[+-]?\d+(?:[.,\u00a0\u202f ]\d{3})*(?:[.,]\d+)?"
    r"(?:[ \u00a0]?(?:million|billion|thousand|Millionen|Million|Milliarden|millones|millón|mil"
    r"|مليون|ملايين|ألف|آلاف|百万|億|亿|万))?"
)
_NEXT_WORD = re.compile(r"[ \u00a0-]?([^\W\d_]+)")
_CAPITALISED = re.compile(r"[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]*(?:(?: | (?:de|del|la|of|the|von|der|van) )[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]*)*")
_QUOTED = re.compile(r"[《「『“\"«]([^》」』”\"»]{2,40})[》」』”\"»]")
_KATAKANA = re.compile(r"[\u30a1-\u30ff]{3,}")
_REACH = 5  # letters within which it makes little difference how near an anchor is


def spans(sentence: str, question: str, lexicon: Lexicon) -> list[str]:
    """Candidates without repeats. Empty when the sentence holds nothing of the kind that the question asks for."""
    plain = sentence.translate(_ARABIC_INDIC)
    match kind_of(question):
        case "year":
            asked = set(_YEAR.findall(question.translate(_ARABIC_INDIC)))
            found = [m.group() for m in _YEAR.finditer(plain) if m.group() not in asked and not _measures(m, lexicon)]
        case "number":
            found = _numbers(plain, question, lexicon)
        case "name":
            found = _names(sentence, question, lexicon)
    return list(dict.fromkeys(found))


def chunk(sentence: str, question: str) -> str:
    """The longest run of words that the question does not hold: an answer when nothing better is found."""
    known = texts.terms(question)
    best: tuple[int, int] = (0, 0)
    start: int | None = None
    end = 0
    for word in texts.words(sentence):
        if texts.terms(word.group()) <= known:
            start = None
            continue
        start, end = (word.start() if start is None else start), word.end()
        if end - start > best[1] - best[0]:
            best = (start, end)
    return sentence[best[0] : best[1]] or sentence


def _numbers(sentence: str, question: str, lexicon: Lexicon) -> list[str]:
    """Numbers with their units: those near the words of the question first, years last."""
    asked = {match.group() for match in _NUMBER.finditer(question.translate(_ARABIC_INDIC))}
    anchors = _anchors(sentence, question, lexicon)
    ranked: list[tuple[bool, bool, float, str]] = []
    for match in _NUMBER.finditer(sentence):
        if match.group() in asked:
            continue
        unit = _unit(sentence[match.end() :], lexicon)
        is_year = bool(_YEAR.fullmatch(match.group())) and not (unit and lexicon.unit_at(unit.strip()))
        nearness = _nearness(match.start(), match.end() + len(unit), anchors)
        ranked.append((is_year, not unit, -nearness, match.group() + unit))
    return [span for *_, span in sorted(ranked, key=lambda entry: entry[:3])]


def _measures(number: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether a unit follows that makes the number no year: 1991 metres, but not 1991年."""
    unit = lexicon.unit_at(number.string[number.end() :].lstrip(" \u00a0"))
    return unit is not None and not lexicon.same_unit(unit, "years")


def _unit(rest: str, lexicon: Lexicon) -> str:
    """What follows a number and belongs to it: a known unit, or the next word in scripts with spaces."""
    gap = rest[:1] if rest[:1] in (" ", "\u00a0", "-") else ""
    known = lexicon.unit_at(rest[len(gap) :])
    if known:
        return gap + known
    word = _NEXT_WORD.match(rest)
    if word is None:
        return ""
    return rest[:1] if texts.is_wide(rest[:1]) else word.group()


def _names(sentence: str, question: str, lexicon: Lexicon) -> list[str]:
    """Names from the glossary, then what looks like a name; those near the words of the question first."""
    asked = {mention.concept for mention in lexicon.mentions(question)}
    folded = question.casefold()
    anchors = _anchors(sentence, question, lexicon)
    named = [mention for mention in lexicon.mentions(sentence) if mention.kind == "name"]
    known = [(mention.start, mention.end) for mention in named if mention.concept not in asked]
    alike = [
        match.span(match.lastindex or 0)
        for pattern in (_QUOTED, _CAPITALISED, _KATAKANA)
        for match in pattern.finditer(sentence)
        # A sentence begins with a capital whatever its first word is.
        if match.start() > 0 or " " in match.group()
    ]
    taken = [(mention.start, mention.end) for mention in named]
    free = [place for place in alike if not _overlaps(*place, taken)]
    found: list[str] = []
    for places in (known, free):
        for start, end in sorted(places, key=lambda place: -_nearness(*place, anchors)):
            if sentence[start:end].casefold() not in folded:
                found.append(sentence[start:end])
    return found


def _anchors(sentence: str, question: str, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Places in the sentence that say what the question says, other than names: they stand near the answer."""
    asked = {mention.concept for mention in lexicon.mentions(question)}
    mentions = lexicon.mentions(sentence)
    places = [(m.start, m.end) for m in mentions if m.concept in asked and m.kind == "word"]
    named = [(m.start, m.end) for m in mentions if m.kind == "name"]
    terms = texts.terms(question)
    for word in texts.words(sentence):
        start, end = word.span()
        if texts.is_wide(word.group()):
            pairs = range(start, end - 1)
            places.extend((i, i + 2) for i in pairs if sentence[i : i + 2] in terms and not _overlaps(i, i + 2, named))
        elif len(word.group()) > 3 and texts.stem(word.group()) in terms and not _overlaps(start, end, named):
            places.append((start, end))
    return places


def _overlaps(start: int, end: int, places: Sequence[tuple[int, int]]) -> bool:
    return any(start < to and since < end for since, to in places)


def _nearness(start: int, end: int, anchors: Sequence[tuple[int, int]]) -> float:
    """Grows with every anchor, most with the nearest ones."""
    return sum(1 / (_REACH + max(since - end, start - to, 0)) for since, to in anchors)
