"""What a config may say of this suite's benchmarks and programs."""

from __future__ import annotations

from pydantic import Field

from seedbed.suite import BenchmarkOptions, Options


class SplitOptions(BenchmarkOptions):
    """`path` is a file, or a folder with train, val and test (.jsonl, .json, .csv or .parquet), or with cases to be
    split; retrieval benchmarks find their corpus.jsonl in that folder too. Sizes are upper limits."""

    split: bool = True
    """Part a single file as the benchmark's source does; false takes all of it as test."""
    whole: bool = False
    """Every row: nothing is drawn, and a single file is all test."""
    max_train: int = Field(default=150, ge=1)
    max_val: int = Field(default=300, ge=1)
    max_test: int = Field(default=300, ge=1)


class HoverOptions(SplitOptions):
    hops: int | None = Field(default=3, ge=2, le=4)
    """Only claims that take this many articles; null takes all."""


class PapillonOptions(SplitOptions):
    max_train: int = Field(default=111, ge=1)
    max_val: int = Field(default=111, ge=1)
    max_test: int = Field(default=221, ge=1)


class IfbenchOptions(SplitOptions):
    split: bool = False
    """A single file is all test; a folder with train and test gives val and train from the train file."""
    max_test: int = Field(default=294, ge=1)


class LiveBenchOptions(SplitOptions):
    max_train: int = Field(default=121, ge=1)
    max_val: int = Field(default=121, ge=1)
    max_test: int = Field(default=126, ge=1)


class AimeOptions(SplitOptions):
    split: bool = False
    """A single file is one year's contest, all of it for the test; a folder with train and test gives val too."""
    max_train: int = Field(default=45, ge=1)
    max_val: int = Field(default=45, ge=1)
    max_test: int = Field(default=30, ge=1)
    """Problems, before they are repeated."""
    repeats: int = Field(default=5, ge=1)
    """Fresh answers asked for each test problem."""
    lenient: bool = False
    """Take an integer out of a box, dollars or a full stop; the source scores such an answer 0."""


class RetrievalOptions(Options):
    top_k: int = Field(default=7, ge=1)
    """Articles a search brings."""


class ScoreOptions(Options):
    """Options of `seedbed score prompt_optimization FILE`."""

    benchmark: str
    """Which benchmark the answers are for."""
    path: str | None = None
    """Its file or folder; left out, the shipped sample."""
    split: str = "test"
    """Which of its splits: test, val, train or all."""
