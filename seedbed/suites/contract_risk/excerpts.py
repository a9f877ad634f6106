"""What an excerpt has in common with a clause: letter for letter, and in the facts that must not change."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from seedbed.suites.contract_risk.numerals import NUMERAL_CHARS, numbers

Alteration = Literal["altered_number", "altered_negation"]

_SENTENCE = re.compile(r"[^。！？；!?;\n]+[。！？；!?;]?")
_NEGATION = re.compile(r"禁止|严禁|杜绝|[不未无非没勿毋否]")
_NEGATED_BEFORE = re.compile(r"(?:[不未无非没勿毋]|不得|不应|不能|不予|不再|未经|无需|无须|无权|没有|禁止|严禁|毋须)$")
_NUMBER_CHARS = frozenset(f"0123456789.{NUMERAL_CHARS}")
_KEPT = frozenset("%‰")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text without quotes, spaces and punctuation, and where each letter stood in its NFKC form."""

    letters: str
    source: str
    places: tuple[int, ...]

    def before(self, start: int) -> str:
        """What stands directly before a letter in the source, punctuation included."""
        return self.source[: self.places[start]]

    def part(self, start: int, end: int) -> str:
        """The stretch of the source from one letter to another, widened over numbers and negations it cuts."""
        first, last = self.places[start], self.places[end - 1] + 1
        while first > 0 and {self.source[first - 1], self.source[first]} <= _NUMBER_CHARS:
            first -= 1
        if negated := _NEGATED_BEFORE.search(self.source[:first]):
            first = negated.start()
        while last < len(self.source) and {self.source[last - 1], self.source[last]} <= _NUMBER_CHARS:
            last += 1
        return self.source[first:last]


def fold(text: str) -> Folded:
    """NFKC, then letters, digits and percent signs only. The point of a decimal stays: 3.5 is not 35."""
    source = unicodedata.normalize("NFKC", text)
    places = tuple(i for i, ch in enumerate(source) if _is_kept(source, i, ch))
    return Folded("".join(source[i] for i in places).lower(), source, places)


def sentences(clause: str) -> list[str]:
    return [sentence for match in _SENTENCE.findall(clause) if (sentence := match.strip())]


def find_exact(excerpt: Folded, clause: Folded) -> Literal["exact", "altered_number", "altered_negation"] | None:
    """Whether the excerpt stands in the clause. One that begins behind a negation or inside a number does not."""
    if not excerpt.letters:
        return None
    why: Alteration | None = None
    start = clause.letters.find(excerpt.letters)
    while start >= 0:
        end = start + len(excerpt.letters)
        # Without punctuation "30、60" reads 3060; the numbers of the source tell them apart.
        same = numbers(excerpt.source) == numbers(clause.source[clause.places[start] : clause.places[end - 1] + 1])
        if not same or _cuts_number(clause, start) or _cuts_number(clause, end):
            why = why or "altered_number"
        elif _NEGATED_BEFORE.search(clause.before(start)):
            why = why or "altered_negation"
        else:
            return "exact"
        start = clause.letters.find(excerpt.letters, start + 1)
    return why


def alteration(excerpt: Folded, sentence: Folded) -> Alteration | None:
    """What an excerpt that is only like a sentence changed in it.

    Numbers and negations must be the same, in both directions: a dropped "not" is in the sentence and no longer in the
    excerpt. The sentence counts from the first to the last stretch it shares with the excerpt, since an excerpt may be
    a part of it.
    """
    matched = _shared_part(excerpt, sentence)
    if numbers(excerpt.source) != numbers(matched):
        return "altered_number"
    return "altered_negation" if negations(excerpt.source) != negations(matched) else None


def negations(text: str) -> Counter[str]:
    return Counter(_NEGATION.findall(text))


def containment(excerpt: Folded, sentence: Folded) -> float:
    """The share of the excerpt's character pairs that the sentence has too, each as often as it has it."""
    wanted = _pairs(excerpt.letters)
    total = sum(wanted.values())
    return sum((wanted & _pairs(sentence.letters)).values()) / total if total else 0.0


def _pairs(letters: str) -> Counter[str]:
    if len(letters) < 2:
        return Counter([letters] if letters else [])
    return Counter(letters[i : i + 2] for i in range(len(letters) - 1))


def _shared_part(excerpt: Folded, sentence: Folded) -> str:
    matcher = SequenceMatcher(None, sentence.letters, excerpt.letters, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= 2]
    if not blocks:
        return sentence.source
    return sentence.part(blocks[0].a, blocks[-1].a + blocks[-1].size)


def _is_kept(source: str, index: int, ch: str) -> bool:
    if ch in _KEPT or ch.isalnum():
        return True
    return ch == "." and 0 < index < len(source) - 1 and source[index - 1].isdigit() and source[index + 1].isdigit()


def _cuts_number(clause: Folded, edge: int) -> bool:
    """Whether an edge between two letters falls inside a number."""
    if not 0 < edge < len(clause.letters) or clause.places[edge] != clause.places[edge - 1] + 1:
        return False
    return _all_numeric((clause.letters[edge - 1], clause.letters[edge]))


def _all_numeric(letters: Iterable[str]) -> bool:
    return all(letter in _NUMBER_CHARS for letter in letters)
