"""What a config or a command line may say of this suite."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from seedbed.suite import BenchmarkOptions, Options
from seedbed.suites.kit.meta import MetaOptions

Weight = Annotated[float, Field(ge=0)]


class Scoring(Options):
    """How cases are judged. The defaults need 7 calls a case, 4 without ground truth."""

    match_threshold: float = Field(default=0.7, gt=0, le=1)
    """Character 3-gram similarity from which a retrieved context counts as a ground-truth context."""
    precision_by_judge: bool = False
    """Let the judge decide which contexts count for context_precision; an eighth call."""
    correctness_weights: tuple[Weight, Weight] = (1.0, 0.0)
    """Of statement F1 and of embedding similarity in answer_correctness."""
    embedder: str | None = None
    """Folder of a FlagEmbedding model; with it the similarity stands in the details even at weight 0."""

    @model_validator(mode="after")
    def _weights_can_be_met(self) -> Scoring:
        if sum(self.correctness_weights) <= 0:
            raise ValueError("correctness_weights are both 0; one must be above")
        if self.correctness_weights[1] > 0 and self.embedder is None:
            raise ValueError("a weight for the similarity needs an embedder: name the folder of a model")
        return self


class CaseOptions(BenchmarkOptions):
    """`path` is a folder with cases.jsonl and documents.jsonl, or one JSONL of cases; the systems that retrieve then
    search the texts that the cases hold."""

    languages: list[str] | None = None
    """Only cases whose question is in one of these (en, zh, ja, ar, ...); null takes all."""
    scoring: Scoring = Scoring()


class RagOptions(Options):
    top_k: int = Field(default=3, ge=1)
    """Contexts put before the model."""


class DenseOptions(RagOptions):
    embedder: str
    """Folder (or hub id, where it is cached) of a FlagEmbedding model such as bge-m3."""


class JudgeOptions(MetaOptions):
    """Options of `seedbed score rag_quality`."""

    limit: int | None = Field(default=None, ge=1)
    """At most this many cases, from the front."""
    match_threshold: float = Field(default=0.7, gt=0, le=1)
    """Character 3-gram similarity from which a retrieved context counts as a ground-truth context."""
    precision_by_judge: bool = False
    """Let the judge decide which contexts count for context_precision; an eighth call."""
