"""BM25 on disk, mapped into memory: many processes share one copy of an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seedbed.suites.crosslingual.diskcache import build_once, folder_for
from seedbed.suites.kit.bm25 import METHOD, Bm25
from seedbed.suites.kit.tokenise import TOKENS_VERSION, tokenise

SETTINGS = {"method": METHOD, "tokens": TOKENS_VERSION}
"""Part of the cached index's name."""


class Bm25Index:
    def __init__(self, texts: Sequence[str], cache_dir: Path) -> None:
        folder = folder_for(cache_dir, "bm25", [SETTINGS, list(texts)])
        self._index = Bm25(folder=build_once(folder, Bm25([tokenise(text) for text in texts]).save))

    def search(self, question: str, k: int) -> list[tuple[int, float]]:
        """Places and scores of the best k texts, best first, ties in order; none that shares nothing."""
        return self._index.best(tokenise(question), k)
