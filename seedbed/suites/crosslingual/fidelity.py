"""How much of a text has come through its translation, as far as can be told without knowing either language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f\u066b\u066c ]\d{3}(?!\d))*(?:[.,\u066b]\d+)?")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")
_FACTOR = 3.0
"""Two sentences are of one length if neither is so many times longer than the texts as a whole would suggest."""


def aligned_share(source: Sequence[str], translated: Sequence[str]) -> float:
    """The share of sentences that have a counterpart: pairs in order whose lengths agree, of all on the longer side."""
    if not source or not translated:
        return float(len(source) == len(translated))
    ratio = sum(map(len, translated)) / max(1, sum(map(len, source)))
    pairs = zip(source, translated, strict=False)
    aligned = sum(1 for one, other in pairs if 1 / _FACTOR <= len(other) / max(1.0, ratio * len(one)) <= _FACTOR)
    return aligned / max(len(source), len(translated))


def slot_consistency(source: str, translated: str) -> float:
    """The share of the numbers, dates and names of the source that the translation keeps; 1.0 where it has none."""
    wanted = slots(source)
    return len(wanted & slots(translated, of=wanted)) / len(wanted) if wanted else 1.0


def slots(text: str, of: frozenset[str] | None = None) -> frozenset[str]:
    """What a translation has to keep as it is: numbers in ASCII digits without separators of thousands, and names that
    do not change with the language, which are Latin words in a text of another script and words with capitals or digits
    inside. With `of`, any Latin word that is among those counts, however it is written."""
    plain = unicodedata.normalize("NFKC", "".join(_ascii_digit(char) for char in text))
    numbers = {_bare(match.group()) for match in _NUMBER.finditer(plain)}
    foreign = bool(_OTHER_SCRIPT.search(text))
    names = {word for word in _LATIN_WORD.findall(plain) if foreign or _is_fixed(word) or (of and word.lower() in of)}
    return frozenset(numbers | {name.lower() for name in names})


def _is_fixed(word: str) -> bool:
    return any(char.isupper() or char.isdigit() for char in word[1:])


def _ascii_digit(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)


def _bare(number: str) -> str:
    """1,234.5 and 1.234,5 and 1 234,5 are all 1234.5."""
    groups = re.split(r"[.,\u00a0\u202f\u066b\u066c ]", number)
    if len(groups) > 1 and len(groups[-1]) != 3:
        return f"{''.join(groups[:-1])}.{groups[-1]}"
    return "".join(groups)
