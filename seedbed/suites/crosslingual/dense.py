"""Documents by the cosine of their embeddings with the question's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_VECTORS = "vectors.npy"


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
