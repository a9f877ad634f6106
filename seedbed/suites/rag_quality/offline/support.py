"""How far one text says what another says: the offline model's notion of entailment and of relevance."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from seedbed.offline.skill import texts
from seedbed.suites.rag_quality.offline.clauses import clauses

ENTAILED = 0.62
"""Support from which a statement counts as entailed."""
RELEVANT = 0.45
"""Coverage from which a context counts as relevant to a question."""

_FROM_PASSAGE = 0.6  # a term that only the sentences around a sentence hold counts this much
_OWN_SHARE = 0.3  # of what is wanted a sentence must say this much itself; the rest may stand around it
_ABSENT = 1.5  # a term that is nowhere weighs more against a statement than a present one for it
_STRANGE = 0.6  # a name, or a word of Chinese, that is nowhere: the statement speaks of something else
_OTHER_POLARITY = 0.5
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|nicht|kein\w*|nunca|sin)\b|n't\b|不(?!同|仅|过|但|断)|[没沒]|未(?!成年|来|知)|无(?!论)|無い|ない|ません"
    r"|なく|禁止|(?:^|\s)(?:لا|لم|لن|ليس|ليست|غير|بدون)(?=\s)",
    re.IGNORECASE,
)
_LATIN_NAME = re.compile(r"(?<=[^\W\d_] |[,;:(] )[A-Z][a-z]{2,}\w*")
_LIGHT_WORDS = (
    "a an the of and or to in on at by for from with as is are was were be been being it its this that these those "
    "which who whom whose what when where how why many much do does did has have had will would can could may might "
    "must shall should there here than then so such also only just very about into over per each any all some "
    "allow allows allowed need needs needed require requires required offer offers offered provide provides "
    "include includes including called named known located situated least most under "
    "der die das und ist war ein eine zu von mit im am el la los las de y es un una que en del por con "
    "من في على إلى عن مع هو هي هذا هذه التي الذي أن ما كم متى أين هل كان كانت يكون تم قد و"
)
_LIGHT = frozenset(map(texts.stem, _LIGHT_WORDS.split()))
_LIGHT_WIDE = re.compile(
    r"允许|需要|要求|必须|可以|规定|提供|拥有|属于|位于|至少|大约|以上|左右|目前|通常|一般|多少|什么|哪[一里个座年些]?|怎么|如何|为何|何时|几[个年]?"
    r"|です|ます|した|する|して|いる|ある|あり|から|まで|など|こと|もの|という|による|いくつ|いくら|どこ|いつ|だれ|誰|何"
    r"|[的了是在为和与及或等于以由从被把将对其该此这那有也都就并且而但则所之个着过吗呢吧年は個がをにのでともやへか、]"
)
_RUN = re.compile(rf"[{texts.WIDE}]+")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text says, taken apart. `runs` are the words of scripts without spaces, light ones removed."""

    stems: frozenset[str]
    runs: tuple[str, ...]
    numbers: frozenset[str]
    names: frozenset[str]

    @property
    def chars(self) -> frozenset[str]:
        return frozenset("".join(self.runs))

    @property
    def pairs(self) -> frozenset[str]:
        return frozenset(run[i : i + 2] for run in self.runs for i in range(len(run) - 1))

    def __or__(self, other: Terms) -> Terms:
        return Terms(
            self.stems | other.stems, self.runs + other.runs, self.numbers | other.numbers, self.names | other.names
        )


NOTHING = Terms(frozenset(), (), frozenset(), frozenset())


@lru_cache(maxsize=16384)  # a context meets every statement
def terms_of(text: str) -> Terms:
    plain = _GROUPED.sub("", unicodedata.normalize("NFKC", text))
    numbers = {_number(found) for found in _NUMBER.findall(plain)}
    worded = _NUMBER.sub(" ", plain)
    spaced = (m.group() for m in texts.words(worded) if not texts.is_wide(m.group()))
    stems = {texts.stem(word) for word in spaced} - _LIGHT
    runs = [run for found in _RUN.findall(worded) for run in _LIGHT_WIDE.sub(" ", found).split()]
    names = {texts.stem(name) for name in _LATIN_NAME.findall(worded)} - _LIGHT
    return Terms(frozenset(stem for stem in stems if len(stem) > 1), tuple(runs), frozenset(numbers), frozenset(names))


def _number(text: str) -> str:
    digits = "".join(str(unicodedata.decimal(char, char)) for char in text)
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def support(statement: str, passages: Iterable[str], *, about: str = "") -> float:
    """From 0 to 1: how far the best sentence of the passages says what the statement says. A number that the sentence
    lacks makes it 0: nothing else tells a right statement from a wrong one so surely. `about` tells what the passages
    speak of without saying so, as a question does for its answer."""
    wanted = terms_of(statement)
    best = 0.0
    for passage in passages:
        sentences = texts.sentences(passage)
        around = union(sentences) | terms_of(about)
        for sentence in sentences:
            said = terms_of(sentence)
            if wanted.numbers <= said.numbers:
                best = max(best, _says(wanted, said, around) * _polarity(statement, sentence))
    return best


def coverage(wanted: Terms, said: Terms) -> float:
    """The share of what is wanted that is said, without a penalty for the rest."""
    total = _size(wanted)
    return _found(wanted, said) / total if total else 0.0


def union(pieces: Sequence[str]) -> Terms:
    whole = NOTHING
    for piece in pieces:
        whole = whole | terms_of(piece)
    return whole


def is_about(question: str, passage: str) -> float:
    """How far a passage speaks of what a question asks about."""
    wanted, said = terms_of(question), terms_of(passage)
    score = coverage(Terms(wanted.stems, wanted.runs, frozenset(), wanted.names), said)
    return score * (_STRANGE if wanted.names - said.stems else 1.0)


def _says(wanted: Terms, said: Terms, around: Terms) -> float:
    here, near, total = _found(wanted, said), _found(wanted, around), _size(wanted)
    if not total:
        return 1.0 if wanted.numbers else 0.0
    if here < _OWN_SHARE * total:
        return 0.0
    absent = total - near
    score = (here + _FROM_PASSAGE * (near - here)) / (near + _ABSENT * absent)
    strange = bool(wanted.names - around.stems) or any(_is_strange(run, around.chars) for run in wanted.runs)
    return score * (_STRANGE if strange else 1.0)


def _size(terms: Terms) -> float:
    return 2.0 * len(terms.stems) + 0.7 * len(terms.chars) + 0.3 * len(terms.pairs)


def _found(wanted: Terms, said: Terms) -> float:
    return (
        2.0 * len(wanted.stems & said.stems)
        + 0.7 * len(wanted.chars & said.chars)
        + 0.3 * len(wanted.pairs & said.pairs)
    )


def _is_strange(run: str, known: frozenset[str]) -> bool:
    """Whether two neighbouring characters are both unknown: a word of its own and not another way to say the same."""
    return any(a not in known and b not in known for a, b in pairwise(run))


def _polarity(statement: str, sentence: str) -> float:
    """Compared with the clause that comes nearest: another clause may well hold a "not" of its own."""
    wanted = terms_of(statement)
    nearest = max(clauses(sentence) or (sentence,), key=lambda clause: coverage(wanted, terms_of(clause)))
    same = bool(_NEGATION.search(statement)) == bool(_NEGATION.search(nearest))
    return 1.0 if same else _OTHER_POLARITY
