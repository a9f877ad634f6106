"""Constraints on single words and their letters."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from seedbed.suites.prompt_optimization.constraints.checker import (
    Arguments,
    Checker,
    number,
    paragraphs,
    sentences,
    words,
)

_CLUSTER = re.compile(r"[b-df-hj-np-tv-z]{2}", re.IGNORECASE)
_VOWELS = frozenset("aeiou")
_MAX_VOWELS = 3
_PALINDROMES, _PALINDROME_LETTERS = 10, 5


def _alphabet(response: str, given: Arguments, prompt: str) -> bool:
    letters = [word[0].lower() for word in words(response)]
    steps = ((ord(b) - ord(a)) % 26 for a, b in pairwise(letters))
    return all("a" <= letter <= "z" for letter in letters) and all(step == 1 for step in steps)


def _consonants(response: str, given: Arguments, prompt: str) -> bool:
    return all(_CLUSTER.search(word) for word in words(response))


def _at_position(response: str, given: Arguments, prompt: str) -> bool:
    found, place = sentences(response), number(given, "n")
    if len(found) < place:
        return False
    inside = words(found[place - 1])
    return len(inside) >= number(given, "m") and inside[number(given, "m") - 1].lower() == str(given["keyword"]).lower()


def _last_first(response: str, given: Arguments, prompt: str) -> bool:
    cut = [words(sentence) for sentence in sentences(response)]
    return all(a[-1].lower() == b[0].lower() for a, b in pairwise(cut))


def _no_consecutive(response: str, given: Arguments, prompt: str) -> bool:
    return all(a[0].lower() != b[0].lower() for a, b in pairwise(words(response)))


def _palindromes(response: str, given: Arguments, prompt: str) -> bool:
    found = [word.lower() for word in words(response) if len(word) >= _PALINDROME_LETTERS]
    return sum(word == word[::-1] for word in found) >= _PALINDROMES


def _paragraph_ends(response: str, given: Arguments, prompt: str) -> bool:
    cut = [words(paragraph) for paragraph in paragraphs(response)]
    return all(inside and inside[0].lower() == inside[-1].lower() for inside in cut)


def _prime_lengths(response: str, given: Arguments, prompt: str) -> bool:
    lengths = {len(re.sub(r"[^\w]", "", word)) for word in words(response)}
    return all(n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) for n in lengths)


def _repeats(response: str, given: Arguments, prompt: str) -> bool:
    counts = Counter(word.lower() for word in words(response))
    return max(counts.values(), default=0) <= number(given, "small_n")


def _vowels(response: str, given: Arguments, prompt: str) -> bool:
    return len(_VOWELS & set(response.lower())) <= _MAX_VOWELS


def _second_words(response: str, given: Arguments, prompt: str) -> bool:
    inside, keyword = [word.lower() for word in words(response)], str(given["keyword"]).lower()
    return len(inside) >= 2 and inside[1] == keyword and inside[-2] == keyword


CHECKERS = (
    Checker("words:alphabet", "each word starts with the next letter of the alphabet", _alphabet),
    Checker("words:consonants", "each word has two or more consonants together", _consonants),
    Checker("words:keywords_specific_position", "the keyword {keyword} as word {m} of sentence {n}", _at_position),
    Checker("words:last_first", "the last word of a sentence is the first word of the next", _last_first),
    Checker("words:no_consecutive", "no two words in a row share their first letter", _no_consecutive),
    Checker("words:palindrome", "at least 10 palindromes of at least 5 letters", _palindromes),
    Checker("words:paragraph_last_first", "each paragraph ends with the word it starts with", _paragraph_ends),
    Checker("words:prime_lengths", "only words whose number of letters is prime", _prime_lengths),
    Checker("words:repeats", "no word more than {small_n} times", _repeats),
    Checker("words:vowel", "no more than three different vowels", _vowels),
    Checker("words:words_position", "the second and the second to last word are {keyword}", _second_words),
)
