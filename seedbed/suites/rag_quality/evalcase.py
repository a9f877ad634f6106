"""A question, what a system made of it, what it should have made of it, and how that was judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

METRICS = (
    "faithfulness",
    "context_relevance",
    "context_recall",
    "context_precision",
    "answer_relevancy",
    "answer_correctness",
)

Status = Literal["ok", "skipped", "error"]
Scenario = Literal["production", "test_set"]


class EvalResult(BaseModel):
    """One metric of one case. Only `ok` has a score: what was not judged is not 0."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    metric: str
    score: float | None = None
    status: Status
    reason: str = ""
    """Why it was skipped, what failed, or what is worth knowing about a score."""
    details: Mapping[str, Any] = Field(default_factory=dict)
    """What the score was computed from: statements, verdicts, flags."""
    calls: int = 0
    """Model calls made for it. A decomposition that two metrics share is counted once, with the first."""
    cost_usd: float | None = None
    """List price of those calls; null where the model's price is unknown or an endpoint told no tokens."""
    elapsed_s: float | None = None
    """Seconds that those calls took; null where none was made."""

    @model_validator(mode="after")
    def _score_only_when_ok(self) -> EvalResult:
        if (self.status == "ok") != (self.score is not None):
            raise ValueError(f"{self.metric}: status {self.status!r} does not go with score {self.score!r}")
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"{self.metric}: {self.score} is no score")
        return self


class EvalCase(BaseModel):
    """Filled in three steps: a test set gives question and ground truth, a RAG system answer and retrieved_contexts,
    evaluation the results. It is therefore the one data type of the suite that may be changed."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, use_attribute_docstrings=True)

    question: str
    ground_truth_answer: str = ""
    """Empty where nobody knows it, as in production."""
    ground_truth_contexts: list[str] = Field(default_factory=list[str])
    answer: str | None = None
    retrieved_contexts: list[str] | None = None
    """Null where nothing was retrieved for want of a retriever; an empty list where a retriever found nothing."""
    source_units: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    persona: dict[str, Any] | None = None
    generation_params: dict[str, Any] = Field(default_factory=dict[str, Any])
    results: dict[str, EvalResult] = Field(default_factory=dict[str, EvalResult])

    @field_validator("ground_truth_answer", mode="before")
    @classmethod
    def _no_answer(cls, value: Any) -> Any:
        return "" if value is None else value

    @field_validator("ground_truth_contexts", "source_units", mode="before")
    @classmethod
    def _no_list(cls, value: Any) -> Any:
        return [] if value is None else value

    @field_validator("question")
    @classmethod
    def _asks_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is empty; a case needs a question")
        return value

    @property
    def scenario(self) -> Scenario:
        """`test_set` as soon as any ground truth is given."""
        return "test_set" if self.ground_truth_answer.strip() or self.ground_truth_contexts else "production"
