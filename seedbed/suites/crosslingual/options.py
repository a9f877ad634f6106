"""What a config may say of this suite's benchmarks and systems."""

from __future__ import annotations

from pydantic import Field

from seedbed.suite import BenchmarkOptions, Options


class CorpusOptions(BenchmarkOptions):
    """`path` is a folder with questions.jsonl and corpus.jsonl."""

    languages: list[str] | None = None
    """Ask only questions in these languages; null asks all. The corpus stays whole."""


class RagOptions(Options):
    top_k: int = Field(default=4, ge=1)
    """Documents put before the model."""
