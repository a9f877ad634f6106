"""Sentence embeddings, where a model for them is at hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seedbed.errors import UserError

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to rows of unit length."""

    def __call__(self, texts: Sequence[str]) -> Vectors: ...


@lru_cache(maxsize=2)  # loading takes seconds and a gigabyte
def load_embedder(name: str) -> Embedder:
    """A FlagEmbedding model from a folder. A hub id works only where it is cached already: nothing is downloaded."""
    try:
        if not Path(name).is_dir():
            os.environ.setdefault("HF_HUB_OFFLINE", "1")  # else an unreachable hub is waited for
        from FlagEmbedding import FlagModel  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise UserError("embedder: FlagEmbedding is not installed; pip install 'seedbed[embeddings]'.") from None
    try:
        model: Any = FlagModel(name, use_fp16=False, devices="cpu", normalize_embeddings=True)
    except OSError as error:
        raise UserError(f"embedder: {name!r} cannot be loaded ({error}); give the folder of a model.") from None

    def embed(texts: Sequence[str]) -> Vectors:
        return np.asarray(model.encode(list(texts)), dtype=np.float32)

    return embed


def cosine(embedder: Embedder | None, one: str, other: str) -> float | None:
    """Similarity of two texts, not below 0; None without an embedder or for a blank text."""
    if embedder is None or not one.strip() or not other.strip():
        return None
    vectors = embedder([one, other])
    return max(0.0, min(1.0, float(vectors[0] @ vectors[1])))
