"""How texts are cut for checkers: as the public checkers cut them, by NLTK's rules where these do."""

from __future__ import annotations

import re
import string

from seedbed.suites.prompt_optimization.constraints.libraries import sentence_tokenizer, word_tokenizer

TRIMMED = string.punctuation + " "
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def without_punctuation(text: str) -> str:
    """ASCII punctuation taken out and nothing put in its place: "1,200" is 1200, "well-known" is wellknown."""
    return text.translate(_NO_PUNCTUATION)


def plain_words(text: str) -> list[str]:
    """Words in lower case without punctuation."""
    return without_punctuation(text.lower()).split()


def trimmed(word: str) -> str:
    """A word without the punctuation around it."""
    return word.strip(TRIMMED)


def word_count(text: str) -> int:
    """Runs of letters and digits: a contraction is two."""
    return len(re.findall(r"\w+", text))


def sentences(text: str) -> list[str]:
    """Sentences with their end marks; an unfinished last one counts."""
    return list(sentence_tokenizer().tokenize(text))


def tokens(text: str) -> list[str]:
    """Words, parts of contractions and punctuation marks, each on its own."""
    tokenizer = word_tokenizer()
    return [token for sentence in sentences(text) for token in tokenizer.tokenize(sentence)]


def word_tokens(text: str) -> list[str]:
    """Tokens with a letter or a digit in them."""
    return [token for token in tokens(text) if any(mark.isalnum() for mark in token)]
