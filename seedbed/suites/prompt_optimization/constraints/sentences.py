"""Constraints on sentences, one after the other."""

from __future__ import annotations

from itertools import groupby, pairwise

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number
from seedbed.suites.prompt_optimization.constraints.counts import occurrences
from seedbed.suites.prompt_optimization.constraints.cutting import TRIMMED, sentences, without_punctuation


def _alliteration(response: str, given: Arguments, prompt: str) -> bool:
    return all(a < b for a, b in pairwise(map(_alliterating, sentences(response))))


def _alliterating(sentence: str) -> int:
    """Words of a sentence that start as the one before or behind them does."""
    words = [word for part in sentence.lower().split() if (word := part.lstrip(TRIMMED))]
    runs = [len(list(run)) for _, run in groupby(word[0] for word in words)]
    return sum(run for run in runs if run > 1)


def _increment(response: str, given: Arguments, prompt: str) -> bool:
    lengths = [len(without_punctuation(sentence).split()) for sentence in sentences(response)]
    return all(b - a == number(given, "small_n") for a, b in pairwise(lengths))


def _keyword(response: str, given: Arguments, prompt: str) -> bool:
    found, place = sentences(response), number(given, "N")
    return len(found) >= place and occurrences(found[place - 1], str(given["word"])) > 0


CHECKERS = (
    Checker(
        "sentence:alliteration_increment",
        "each sentence has more words in a row that start alike than the one before",
        _alliteration,
    ),
    Checker("sentence:increment", "each sentence has exactly {small_n} more words than the one before", _increment),
    Checker("sentence:keyword", "the keyword {word} in sentence {N}", _keyword),
)
