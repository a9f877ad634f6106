"""How alike two texts are by their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from seedbed.suites.kit.embedding import Vectors


class Embedder(Protocol):
    """Texts to rows of unit length."""

    def __call__(self, texts: Sequence[str]) -> Vectors: ...


def cosine(embedder: Embedder | None, one: str, other: str) -> float | None:
    """Similarity of two texts, not below 0; None without an embedder or for a blank text."""
    if embedder is None or not one.strip() or not other.strip():
        return None
    vectors = embedder([one, other])
    return max(0.0, min(1.0, float(vectors[0] @ vectors[1])))
