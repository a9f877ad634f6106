"""BM25 over words, and over character pairs where a script does not part words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from seedbed.suites.crosslingual.diskcache import build_once, folder_for

SETTINGS = {"method": "lucene", "k1": 1.5, "b": 0.75, "tokens": "icu words + pairs, 1"}
"""Part of the cached index's name; the number changes when `tokenise` does."""


class Bm25Index:
    """An index on disk, mapped into memory: many processes share one copy of it."""

    def __init__(self, texts: Sequence[str], cache_dir: Path) -> None:
        self._size = len(texts)
        folder = folder_for(cache_dir, "bm25", [SETTINGS, list(texts)])
        self._index = _load(build_once(folder, lambda new: _build(texts, new)))

    def search(self, question: str, k: int) -> list[tuple[int, float]]:
        """Places and scores of the best k texts, best first, ties in order; none that shares nothing."""
        tokens = tokenise(question)
        if not tokens or self._index is None:
            return []
        found, scores = self._index.retrieve([tokens], k=min(k, self._size), show_progress=False, n_threads=0)
        ranked = sorted(zip(found[0].tolist(), scores[0].tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return [(place, score) for place, score in ranked if score > 0]


def tokenise(text: str) -> list[str]:
    """Words by Unicode's rules (a dictionary parts Chinese, Japanese and Thai), and character pairs of those scripts,
    which find what the dictionary cut elsewhere."""
    from icu4py.breakers import WordBreaker

    lowered = text.lower()
    tokens = [word for word in WordBreaker(lowered, "root") if any(ch.isalnum() for ch in word)]
    for run in _unsegmented().findall(lowered):
        tokens.extend(run[i : i + 2] for i in range(len(run) - 1))
    return tokens


def _build(texts: Sequence[str], folder: Path) -> None:
    index = _bm25s().BM25(method=SETTINGS["method"], k1=SETTINGS["k1"], b=SETTINGS["b"])
    tokens = [tokenise(text) for text in texts]
    if any(tokens):
        index.index(tokens, show_progress=False)
        index.save(folder, show_progress=False)


def _load(folder: Path) -> Any:
    """None where there was not a single word to index."""
    if not any(folder.iterdir()):
        return None
    return _bm25s().BM25.load(folder, mmap=True, show_progress=False)


def _bm25s() -> Any:
    import bm25s

    # It logs every index at DEBUG through a handler of its own.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


@lru_cache(maxsize=1)
def _unsegmented() -> Any:
    import regex

    return regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")
