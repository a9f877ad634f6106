"""Documents by the cosine of their embeddings with the question's, and a second look by a reranker."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.errors import UserError

Vectors = NDArray[np.float32]

_VECTORS = "vectors.npy"
_turn = threading.Lock()
"""Models are not safe to call from two threads, and two at once are no faster."""


class DenseIndex:
    """Unit vectors on disk, mapped into memory."""

    def __init__(self, folder: Path) -> None:
        self._vectors: Vectors = np.load(folder / _VECTORS, mmap_mode="r")

    @staticmethod
    def save(folder: Path, vectors: Vectors) -> None:
        np.save(folder / _VECTORS, unit(vectors))

    def search(self, question: Vectors, k: int) -> list[tuple[int, float]]:
        """Places and cosines of the best k, best first, ties in order; what points away from the question is left."""
        scores = (self._vectors @ unit(question)[0]).tolist()
        ranked = sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))
        return [(place, score) for place, score in ranked[:k] if score > 0]


def unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def embed_locally(folder: Path, texts: Sequence[str]) -> Vectors:
    """Dense vectors of BGE-M3, or of another model that FlagEmbedding can load, from its folder."""
    with _turn:
        model = _embedder(str(folder))
        found: Any = model.encode(list(texts))
    dense: Any = found["dense_vecs"] if isinstance(found, dict) else found
    return np.asarray(dense, dtype=np.float32)


def rerank(folder: Path, question: str, texts: Sequence[str]) -> list[float]:
    """Relevance from 0 to 1 of each text."""
    if not texts:
        return []
    with _turn:
        scores: Any = _reranker(str(folder)).compute_score([(question, text) for text in texts], normalize=True)
    # A single pair may come back as a bare number.
    return [float(score) for score in (scores if isinstance(scores, list) else [scores])]


def weights_name(folder: Path) -> list[Any]:
    """What tells one model's folder from another without reading gigabytes: its files and their sizes."""
    return sorted([path.name, path.stat().st_size] for path in folder.iterdir() if path.is_file())


def check_folder(folder: Path, option: str) -> None:
    if not (folder / "config.json").exists():
        raise UserError(
            f"{option}: {folder} holds no config.json; give a local folder with the weights, nothing is downloaded."
        )


@lru_cache(maxsize=2)  # seconds and gigabytes each
def _embedder(folder: str) -> Any:
    # BGE-M3 carries the weights of its sparse head beside those of the encoder; other models have none.
    kind = "BGEM3FlagModel" if (Path(folder) / "sparse_linear.pt").exists() else "FlagModel"
    return getattr(_flag_embedding(), kind)(folder, use_fp16=False, devices="cpu", normalize_embeddings=True)


@lru_cache(maxsize=2)
def _reranker(folder: str) -> Any:
    return _flag_embedding().FlagReranker(folder, use_fp16=False, devices="cpu")


def _flag_embedding() -> Any:
    # The folders are local: a look at the hub could only hang.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import FlagEmbedding  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise UserError(
            "retriever: FlagEmbedding is not installed; pip install 'seedbed[embeddings]', or take bm25."
        ) from None
    return FlagEmbedding
