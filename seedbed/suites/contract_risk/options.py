"""What a config may say of this suite's benchmarks and systems."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from seedbed.suite import BenchmarkOptions, Options
from seedbed.suites.kit.embedding import why_unusable

VerifierOption = Literal["auto", "flag", "lexical", "off"]


def why_no_flag(embedder: Path | None, reranker: Path | None) -> str | None:
    """Why evidence cannot be checked by models, as the end of a sentence; None if it can."""
    return why_unusable(embedder, "embedder", "bge-small-zh-v1.5") or why_unusable(
        reranker, "reranker", "bge-reranker-base"
    )


class VerifierOptions(Options):
    """How quoted evidence is checked. `auto` becomes `flag` or `lexical` when the options are read, so that the cell id
    and every row name the verifier that was really used."""

    embedder: Path | None = None
    """Local folder of a FlagModel such as bge-small-zh-v1.5."""
    reranker: Path | None = None
    """Local folder of a FlagReranker such as bge-reranker-base."""
    threshold: float = Field(default=0.5, ge=0, le=1)
    """A sentence that the reranker scores at least this supports an excerpt."""
    verifier: VerifierOption = Field(default="auto", validate_default=True)
    """What checks quoted evidence; auto takes flag where both folders are there, else lexical."""

    @field_validator("verifier")
    @classmethod
    def _usable(cls, value: VerifierOption, info: ValidationInfo) -> VerifierOption:
        if value not in ("auto", "flag"):
            return value
        reason = why_no_flag(info.data.get("embedder"), info.data.get("reranker"))
        if value == "flag" and reason:
            raise ValueError(f"verifier flag cannot start: {reason}")
        return "lexical" if reason else "flag"


class ClauseOptions(BenchmarkOptions, VerifierOptions):
    """`path` is a folder with cases.jsonl, rules.jsonl, laws.jsonl and law_index.json, or a file of cases. The other
    files, where they are named, are looked for beside it."""

    rules: Path | None = None
    laws: Path | None = None
    """Rows {law, article, text}, or an SQLite database with a table law_articles."""
    law_index: Path | None = None
    contract_types: Path | None = None
    """JSON {KIND: {names: [...]}}: names of contract types that mean the same, beside those that are known."""


class ReviewOptions(Options):
    rules_k: int = Field(default=3, ge=1)
    """Rules put before the model."""
    laws_k: int = Field(default=3, ge=1)
    """Law articles put before the model."""
    candidates: int = Field(default=10, ge=1)
    """How many are ranked again before the best are taken."""
    min_relevance: float | None = Field(default=None, ge=0, le=1)
    """What is less relevant is left out; null takes the default of the reranker at hand."""


class FileOptions(VerifierOptions):
    """`seedbed score contract_risk FILE --cases CASES`."""

    cases: Path | None = None
    """Cases file or folder; null takes the clauses shipped with the suite."""
    law_index: Path | None = None
    """JSON {law: {max_article, aliases}}; null takes law_index.json beside the cases, else the one shipped."""
    laws: Path | None = None
    """Laws that exist beside those of the index: an SQLite database with a table law_articles, rows {law, article},
    or another index."""
