"""What a config may say of this suite's benchmarks and systems."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from seedbed.suite import BenchmarkOptions, Options
from seedbed.suites.crosslingual.scripts import language_mask


def _known(tag: str) -> str:
    language_mask(tag)
    return tag


Language = Annotated[str, AfterValidator(_known)]


class CorpusOptions(BenchmarkOptions):
    """`path` is a folder with questions.jsonl and corpus.jsonl. How documents are found is a matter of the benchmark
    and not of a system, so that all systems see the same candidates."""

    languages: list[str] | None = None
    """Ask only questions in these languages; null asks all. The corpus stays whole."""
    split: bool = False
    """Keep a part of the questions for optimizers: the first 40% are test, the next 40% val, the rest train."""
    top_k: int = Field(default=4, ge=1)
    """Documents put before the model."""
    retriever: Literal["bm25", "bge_m3", "endpoint"] = "bm25"
    """`bge_m3` embeds with the model at `embedder`, `endpoint` with the model of the role `embedding`."""
    embedder: Path | None = None
    """Folder with the weights of BGE-M3 or another FlagEmbedding model."""
    reranker: Path | None = None
    """Folder with the weights of a BGE reranker; null keeps the order of the retriever."""
    pool: int = Field(default=20, ge=1)
    """Documents that the reranker looks at."""


class XquadOptions(CorpusOptions):
    """`path` is a folder with xquad.en.json and its like."""

    documents: list[str] | None = None
    """Languages of the paragraphs in the corpus; null takes all languages of the folder."""


def _budget(value: Any) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError("give a number of tokens, a share below 1, or inf") from None
    return "inf" if number == math.inf else number


Tokens = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Budget = Annotated[Tokens | Literal["inf"], BeforeValidator(_budget)]


class CrossOptions(Options):
    pivot: Language = "en"
    """Candidates in other languages are translated into this one."""


class LbragOptions(Options):
    budget: Budget = 35.0
    """Translation tokens a question may cost: from 1 on a number of tokens, between 0 and 1 a share of the tokens of
    all its candidates. `inf` is no budget: all that `cross` would translate is."""
    pivot: Language | None = None
    """Null is the language of the question where at least 60% of the candidates are in it, else English."""
    level: Literal["auto", "document", "sentence"] = "auto"
    """`auto` takes whole documents first and then sentences of those that did not fit."""
