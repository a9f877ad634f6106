"""How near an answer is to the right one in meaning, by embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr, ValidationInfo, model_validator

from seedbed.storage.hashing import hash_json
from seedbed.suite import Case, Metric, PhaseContext, Scored, ScorerSpec
from seedbed.suites.kit.embedding import Embedder, weights_name
from seedbed.suites.kit.scorers.values import VERSION, GoldOptions, accepted, answer_text, told


class SimilarityOptions(GoldOptions):
    similarity: str | None = None
    """The folder of a model for FlagEmbedding, such as BGE-M3; null asks the model of the role `embedding`."""
    _weights: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _find(self, info: ValidationInfo) -> SimilarityOptions:
        if self.similarity is not None:
            weights = Path((info.context or {}).get("folder") or ".") / self.similarity
            if not (weights / "config.json").exists():
                raise ValueError(f"the folder {self.similarity} holds no config.json; put a model's weights there")
            self._weights = weights
        return self

    @property
    def weights(self) -> Path | None:
        return self._weights


async def similarity(
    context: PhaseContext, case: Case, output: Mapping[str, Any], options: SimilarityOptions
) -> Scored | None:
    """The cosine with the nearest accepted answer; below 0 it is 0."""
    answer, golds = answer_text(output, options), accepted(case, options)
    if not golds:
        return None
    near = max(await _cosines(context, answer, golds, options))
    return Scored({"similarity": min(1.0, max(0.0, near))}, feedback=told(answer, golds, right=near > 0.999))


async def _cosines(context: PhaseContext, answer: str, golds: list[str], options: SimilarityOptions) -> list[float]:
    if options.weights is not None:
        return await asyncio.to_thread(Embedder(options.weights, "similarity").similarity, answer, golds)
    if not context.has_role("embedding"):
        raise ValueError("similarity needs the folder of a model, or `roles: {embedding: MODEL}`")
    import numpy as np

    rows = await context.embedder("embedding").embed([answer, *golds])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return [float(unit[0] @ other) for other in unit[1:]]


def _version(options: SimilarityOptions) -> str:
    return hash_json([VERSION, weights_name(options.weights) if options.weights else None])


SIMILARITY = ScorerSpec(
    similarity, (Metric("similarity", "Similarity"),), SimilarityOptions, roles=("embedding",), version=_version
)
