"""FlagEmbedding from local folders: one embedder and one reranker a path, loaded when first used."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

_lock = threading.Lock()


def why_unavailable(embedder: Path | None, reranker: Path | None) -> str | None:
    """Why the flag models cannot be used, as the end of a sentence; None if they can. Loads nothing."""
    for option, path, example in (
        ("embedder", embedder, "bge-small-zh-v1.5"),
        ("reranker", reranker, "bge-reranker-base"),
    ):
        if path is None:
            return f"{option} is not given; set it to a local folder with the weights of a model such as {example}"
        if not (path / "config.json").exists():
            return (
                f"{option}: the folder {path} holds no config.json; put the weights of a model such as {example} there"
            )
    if importlib.util.find_spec("FlagEmbedding") is None:
        return "the package FlagEmbedding is not installed; install seedbed[embeddings]"
    return None


class FlagModels:
    """An embedder (FlagModel) and a reranker (FlagReranker); calls from several threads take turns."""

    def __init__(self, embedder: Path, reranker: Path) -> None:
        self._embedder = embedder
        self._reranker = reranker

    def similarity(self, query: str, texts: Sequence[str]) -> list[float]:
        """Cosine of the embeddings."""
        if not texts:
            return []
        with _lock:
            vectors = _embedder(str(self._embedder)).encode([query, *texts])
        return [float(vectors[0] @ vector) for vector in vectors[1:]]

    def relevance(self, query: str, texts: Sequence[str]) -> list[float]:
        """Scores of the reranker between 0 and 1."""
        if not texts:
            return []
        with _lock:
            # A single pair may come back as a bare number; an empty list of pairs raises.
            scores: Any = _reranker(str(self._reranker)).compute_score([(query, t) for t in texts], normalize=True)
        return [float(score) for score in (scores if isinstance(scores, list) else [scores])]


@lru_cache(maxsize=4)
def _embedder(folder: str) -> Any:
    return _flag().FlagModel(folder, use_fp16=False, devices="cpu", normalize_embeddings=True)


@lru_cache(maxsize=4)
def _reranker(folder: str) -> Any:
    return _flag().FlagReranker(folder, use_fp16=False, devices="cpu")


def _flag() -> Any:
    # The folders are local: a look at the hub could only hang.
    os.environ["HF_HUB_OFFLINE"] = "1"
    import FlagEmbedding  # pyright: ignore[reportMissingImports]

    return FlagEmbedding
