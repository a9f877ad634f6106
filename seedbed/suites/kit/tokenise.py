"""Texts as tokens for an index, in any script."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

TOKENS_VERSION = "icu words + pairs, 1"
"""Names how `tokenise` works, for indexes that are kept; change it with the function."""

_PLAIN_WORD = re.compile(r"\w+(?:(?:(?<=[a-z])['.:](?=[a-z])|(?<=[0-9])['.,;](?=[0-9]))\w+)*", re.ASCII)
"""Unicode's rules for words where a text is ASCII in small letters: ten times as quick as ICU, and the same (a test
compares)."""


def tokenise(text: str) -> list[str]:
    """Words by Unicode's rules (a dictionary parts Chinese, Japanese and Thai), and character pairs of those scripts,
    which find what the dictionary cut elsewhere."""
    lowered = text.lower()
    if lowered.isascii():
        return [word for word in _PLAIN_WORD.findall(lowered) if word.strip("_")]
    tokens = words_by_icu(lowered)
    for run in _unsegmented().findall(lowered):
        tokens.extend(run[i : i + 2] for i in range(len(run) - 1))
    return tokens


def words_by_icu(text: str) -> list[str]:
    from icu4py.breakers import WordBreaker

    return [word for word in WordBreaker(text, "root") if any(ch.isalnum() for ch in word)]


@lru_cache(maxsize=1)
def _unsegmented() -> Any:
    import regex

    return regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")
