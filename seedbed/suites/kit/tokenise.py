"""Texts as tokens for an index, in any script."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

TOKENS_VERSION = "icu words + pairs, 1"
"""Names how `tokenise` works, for indexes that are kept; change it with the function."""


def tokenise(text: str) -> list[str]:
    """Words by Unicode's rules (a dictionary parts Chinese, Japanese and Thai), and character pairs of those scripts,
    which find what the dictionary cut elsewhere."""
    lowered = text.lower()
    tokens = [word for word in _words(lowered) if any(ch.isalnum() for ch in word)]
    for run in _unsegmented().findall(lowered):
        tokens.extend(run[i : i + 2] for i in range(len(run) - 1))
    return tokens


def _words(text: str) -> list[str]:
    from icu4py.breakers import WordBreaker

    return list(WordBreaker(text, "root"))


@lru_cache(maxsize=1)
def _unsegmented() -> Any:
    import regex

    return regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")
