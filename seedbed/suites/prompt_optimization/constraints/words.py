"""Constraints on single words, their letters, syllables and kinds."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from string import ascii_lowercase

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, number
from seedbed.suites.prompt_optimization.constraints.cutting import (
    TRIMMED,
    plain_words,
    sentences,
    tokens,
    trimmed,
    word_tokens,
)
from seedbed.suites.prompt_optimization.constraints.libraries import is_verb, syllables

_CLUSTER = re.compile(r"[b-df-hj-np-tv-z]{2}")
_VOWELS = frozenset("aeiou")
_MAX_VOWELS = 3
_PALINDROMES, _PALINDROME_LETTERS = 10, 5
_LONGEST = 97
"""Longer words have a length that the public checker does not call prime."""
_CONTEXT = 12
"""Words of a response that the tagger sees: what its first is, its neighbours tell."""


def _alphabet(response: str, given: Arguments, prompt: str) -> bool:
    letters = [word[0] for word in plain_words(response)]
    if not letters or letters[0] not in ascii_lowercase:
        return False
    start = ascii_lowercase.index(letters[0])
    return all(letter == ascii_lowercase[(start + i) % 26] for i, letter in enumerate(letters))


def _consonants(response: str, given: Arguments, prompt: str) -> bool:
    return all(_CLUSTER.search(word) for word in response.lower().split())


def _at_position(response: str, given: Arguments, prompt: str) -> bool:
    found, sentence, place = sentences(response), number(given, "n"), number(given, "m")
    inside = word_tokens(found[sentence - 1]) if len(found) >= sentence else []
    return len(inside) >= place and inside[place - 1].lower() == _keyword(given)


def _keyword(given: Arguments) -> str:
    return str(given["keyword"]).strip().lower()


def _last_first(response: str, given: Arguments, prompt: str) -> bool:
    cut = [sentence.lower() for sentence in sentences(response)]
    ends = [sentence.rstrip(TRIMMED).split()[-1:] for sentence in cut]
    begins = [sentence.lstrip(TRIMMED).split()[:1] for sentence in cut]
    return all(end and end == begin for end, begin in zip(ends, begins[1:], strict=False))


def _no_consecutive(response: str, given: Arguments, prompt: str) -> bool:
    return all(a[0] != b[0] for a, b in pairwise(plain_words(response)))


def _palindromes(response: str, given: Arguments, prompt: str) -> bool:
    long = (word for word in plain_words(response) if len(word) >= _PALINDROME_LETTERS)
    return sum(word == word[::-1] for word in long) >= _PALINDROMES


def _paragraph_ends(response: str, given: Arguments, prompt: str) -> bool:
    cut = [trimmed(line.strip().lower()).split() for line in response.split("\n")]
    return all(words[0] == words[-1] for words in cut if words)


def _prime_lengths(response: str, given: Arguments, prompt: str) -> bool:
    lengths = {len(word) for word in plain_words(response)}
    return all(1 < n <= _LONGEST and all(n % d for d in range(2, n)) for n in lengths)


def _repeats(response: str, given: Arguments, prompt: str) -> bool:
    return max(Counter(plain_words(response)).values(), default=0) <= number(given, "small_n")


def _vowels(response: str, given: Arguments, prompt: str) -> bool:
    paragraph = response.strip().lower()
    return "\n" not in paragraph and len(_VOWELS & set(paragraph)) <= _MAX_VOWELS


def _second_words(response: str, given: Arguments, prompt: str) -> bool:
    inside = [token.lower() for token in word_tokens(response)]
    return len(inside) >= 2 and inside[1] == inside[-2] == _keyword(given)


def _syllables(response: str, given: Arguments, prompt: str) -> bool:
    odd = [syllables(word) % 2 for word in plain_words(response)]
    return all(a != b for a, b in pairwise(odd))


def _starts_with_verb(response: str, given: Arguments, prompt: str) -> bool:
    """The first word has a capital by its place, so small letters are tried too."""
    first, *others = tokens(response)[:_CONTEXT] or [""]
    return first[:1].isalpha() and any(is_verb(" ".join([word, *others])) for word in (first, first.lower()))


CHECKERS = (
    Checker("words:alphabet", "each word starts with the next letter of the alphabet", _alphabet),
    Checker("words:consonants", "each word has two or more consonants together", _consonants),
    Checker("words:keywords_specific_position", "the keyword {keyword} as word {m} of sentence {n}", _at_position),
    Checker("words:last_first", "the last word of a sentence is the first word of the next", _last_first),
    Checker("words:no_consecutive", "no two words in a row share their first letter", _no_consecutive),
    Checker("words:odd_even_syllables", "words with an odd and an even number of syllables in turn", _syllables),
    Checker("words:palindrome", "at least 10 palindromes of at least 5 letters", _palindromes),
    Checker("words:paragraph_last_first", "each paragraph ends with the word it starts with", _paragraph_ends),
    Checker("words:prime_lengths", "only words whose number of letters is prime", _prime_lengths),
    Checker("words:repeats", "no word more than {small_n} times", _repeats),
    Checker("words:start_verb", "the first word a verb", _starts_with_verb),
    Checker("words:vowel", "a single paragraph with no more than three different vowels", _vowels),
    Checker("words:words_position", "the second and the second to last word are {keyword}", _second_words),
)
