"""Constraints on sentences, one after the other."""

from __future__ import annotations

from itertools import groupby, pairwise

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number, sentences, words


def _alliteration(response: str, given: Arguments, prompt: str) -> bool:
    runs = [_longest_run(sentence) for sentence in sentences(response)]
    return all(a < b for a, b in pairwise(runs))


def _longest_run(sentence: str) -> int:
    """Words in a row that start alike; a single word is no alliteration."""
    longest = max(len(list(run)) for _, run in groupby(word[0].lower() for word in words(sentence)))
    return longest if longest > 1 else 0


def _increment(response: str, given: Arguments, prompt: str) -> bool:
    lengths = [len(words(sentence)) for sentence in sentences(response)]
    return all(b - a == number(given, "small_n") for a, b in pairwise(lengths))


def _keyword(response: str, given: Arguments, prompt: str) -> bool:
    found, place = sentences(response), number(given, "N")
    return len(found) >= place and str(given["word"]).lower() in (w.lower() for w in words(found[place - 1]))


CHECKERS = (
    Checker(
        "sentence:alliteration_increment",
        "each sentence has a longer row of words that start alike than the one before",
        _alliteration,
    ),
    Checker("sentence:increment", "each sentence has exactly {small_n} more words than the one before", _increment),
    Checker("sentence:keyword", "the keyword {word} in sentence {N}", _keyword),
)
