"""Constraints on shares: of sentence kinds, of stop words, of shared trigrams."""

from __future__ import annotations

import re
from collections import Counter

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker
from seedbed.suites.prompt_optimization.constraints.cutting import plain_words, sentences, tokens

_STOP_WORDS_TEXT = (
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself they them their theirs themselves what which who whom this that these those am is are "
    "was were be been being have has had having do does did doing a an the and but if or because as until while "
    "of at by for with about against between into through during before after above below to from up down in out "
    "on off over under again further then once here there when where why how all any both each few more most "
    "other some such no nor not only own same so than too very s t can will just don should now d ll m o re ve y "
    "ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn"
)
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())
_TOLERANCE = 2.0
"""Points of per cent that the overlap may be off."""


def _ends(response: str) -> Counter[str]:
    """Sentences by their last mark; one that ends in a quotation mark is neither statement nor question."""
    return Counter(sentence[-1] for sentence in sentences(response))


def _overlap(response: str, given: Arguments, prompt: str) -> bool:
    """The share of the response's own trigrams that the reference has too."""
    own, reference = _trigrams(response), _trigrams(str(given["reference_text"]))
    share = 100 * len(own & reference) / len(own) if own else None
    return share is not None and abs(share - float(given["percentage"])) <= _TOLERANCE


def _trigrams(text: str) -> frozenset[tuple[str, ...]]:
    inside = tokens(text)
    return frozenset(zip(inside, inside[1:], inside[2:], strict=False))


def _balance(response: str, given: Arguments, prompt: str) -> bool:
    ends = _ends(response)
    return ends["."] == ends["?"] == ends["!"]


def _two_to_one(response: str, given: Arguments, prompt: str) -> bool:
    ends = _ends(response)
    return ends["."] == 2 * ends["?"]


def _three_alike(response: str, given: Arguments, prompt: str) -> bool:
    found = sentences(response)
    inside = plain_words(" ".join(found))
    return len(found) == 3 and len({len(s.strip()) for s in found}) == 1 and len(set(inside)) == len(inside)


def _stop_words(response: str, given: Arguments, prompt: str) -> bool:
    inside = re.findall(r"\w+", response.lower())
    stop = sum(word in _STOP_WORDS for word in inside)
    return bool(inside) and 100 * stop / len(inside) <= float(given["percentage"])


CHECKERS = (
    Checker(
        "ratio:overlap",
        "{percentage}% of the response's trigrams stand in the reference text, two points more or less",
        _overlap,
        unsaid=("reference_text",),
    ),
    Checker("ratio:sentence_balance", "as many statements as questions as exclamations", _balance),
    Checker("ratio:sentence_type", "two statements for each question", _two_to_one),
    Checker("ratio:sentence_words", "three sentences of as many characters, no word twice", _three_alike),
    Checker("ratio:stop_words", "no more than {percentage}% stop words", _stop_words),
)
