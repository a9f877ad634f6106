"""What is asked and what came of it: cases, benchmarks, answers, scores, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

MetricKind = Literal["rate", "mean", "pooled"]


class Options(BaseModel):
    """Base of the options of a benchmark or a system: what a config may say beside its name."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    NOT_RESULTS: ClassVar[frozenset[str]] = frozenset()
    """Options that change how something runs and not what comes out: no part of a cell's id."""

    @classmethod
    def read_files(cls, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """What a config gives, with texts that it names by file in their place: a plan holds all it depends on."""
        return dict(given)

    def misfit(self, benchmark: Benchmark) -> tuple[str, str] | None:
        """The option of a system or scorer that does not fit these cases, and why; None where all do."""
        return None

    @property
    def starts_programs(self) -> bool:
        """Whether a system starts programs, which nobody does to look only."""
        return False

    @property
    def declared_calls(self) -> float | None:
        """Calls a case takes, where the options know better than the system's declaration."""
        return None


class BenchmarkOptions(Options):
    """What every benchmark understands; a suite adds its own fields in a subclass."""

    path: Path | None = None
    """A file or folder of the user's; null takes the data shipped with the suite."""
    limit: int | None = None
    """At most this many test cases, taken from the front."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question put to a system. Systems receive `inputs` and nothing else of it."""

    sample_id: str
    inputs: Mapping[str, Any]
    gold: Any = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Facts for slices and reports (language, topic); neither given to systems nor scored."""
    cluster: str | None = None
    """Samples that stand or fall together share a cluster; resampling keeps them whole."""
    repeat: int = 0
    """Which honest repeat of the same inputs this is; a repeat never gets the answer of another from the ledger."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A named set of cases. `test` is what is reported; `train` and `val` are for optimizers."""

    name: str
    test: Sequence[Case]
    train: Sequence[Case] = ()
    val: Sequence[Case] = ()
    resources: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What systems need beside the case, for example a corpus."""
    excluded: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many rows of the source were left out, by reason."""
    warnings: Sequence[str] = ()
    """What a user should know of these cases before anything is paid for, a sentence each."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of one sample. An undefined metric is None; a failed sample has no scores at all."""

    sample_id: str
    status: Literal["ok", "error", "skipped"]
    scores: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system gave for a case."""

    sample_id: str
    output: Mapping[str, Any]


UNREADABLE_KINDS = frozenset({"AdapterParseError", "context_length"})
"""Kinds of failure that a system's own prompt or answer brought about."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that a system gave no answer to. It has no output, so that nobody scores it by accident."""

    sample_id: str
    error: Mapping[str, Any]
    """`kind` and `message`."""

    @property
    def unreadable(self) -> bool:
        """Whether it is the system's own fault: an answer that cannot be read, or a prompt that is too long. Such a
        case is scored, as badly as can be; what a provider, a judge or a bug did is missing."""
        return self.error.get("kind") in UNREADABLE_KINDS


TIMES = "seedbed_times"
"""How long things took in this very run stands under this name in an output or in the details of a row. It is written
to a file of its own, so that two equal runs give equal answers and scores to the last byte."""
GENERATE_TIMES, SCORE_TIMES = "generate_times.jsonl", "score_times.jsonl"

Prediction: TypeAlias = Answer | Failure
"""How a case ended: one of two types, told apart by `isinstance` or `match`."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What an optimizer learns from one answer: a score from 0 to 1 and, for those that can read, why."""

    score: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class SampleUsage:
    """What the generation of one sample took, from the ledger. Latency is of paid calls; None if any was not, or if the
    model is simulated."""

    calls: int
    tokens_in: int
    tokens_out: int
    list_usd: float | None
    latency_s: float | None
    cut: int = 0
    """Of the calls, those whose answer was cut off at the limit of its tokens."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Declares that a model judges a metric, and how a person is asked the same so that the judge can be calibrated."""

    question: str
    marks: tuple[tuple[float, str], ...]
    """What may be answered, the lowest first: a value of the metric and a word for it. At most nine: a key each."""
    outputs: tuple[str, ...] = ()
    """Fields of an output that are shown, a dot leading into the members of a list; all where none is named or an
    output has none of them. What would give the system away is best left out."""
    inputs: tuple[str, ...] = ()
    """Fields of a case's inputs that are shown; all where none is named."""
    reference: bool = True
    """Show the right answer, where the case has one."""
    benchmarks: tuple[str, ...] = ()
    """Benchmarks in which a model judges it; all where none is named."""
    option: str = ""
    """An option of the benchmark, a dot between levels, without which no model does."""
    votes: str = ""
    """Where a row's details keep the judge's single votes: pairs of a mark and a reason."""
    pairs: bool = False
    """Whether two answers are held against each other; the other system's is shown beside, in random order, and the
    marks are worth what the first shown gains."""
    against: str | None = None
    """Of pairs, the system that the other answer is from; null for the experiment's baseline."""

    def applies(self, benchmark: str, options: BenchmarkOptions) -> bool:
        """Whether a model judges it in a benchmark of this name with these options."""
        value: Any = options
        for name in filter(None, self.option.split(".")):
            value = getattr(value, name, None)
        return (not self.benchmarks or benchmark in self.benchmarks) and (not self.option or bool(value))


NO_OR_YES = ((0.0, "no"), (1.0, "yes"))
SHARES = ((0.0, "none"), (0.25, "a quarter"), (0.5, "half"), (0.75, "three quarters"), (1.0, "all"))


def scale_marks(low: int, high: int) -> tuple[tuple[float, str], ...]:
    """Marks of a scale of whole numbers; nine of them, evenly spread, where it has more."""
    steps = high - low
    values = range(low, high + 1) if steps < 9 else [round(low + steps * place / 8) for place in range(9)]
    words = {low: f"{low} worst", high: f"{high} best"}
    return tuple((float(value), words.get(value, str(value))) for value in values)


@dataclass(frozen=True, slots=True)
class Metric:
    """A declared figure: what it is, how it is shown and compared. Nothing about it is guessed from values."""

    name: str
    label: str
    higher_is_better: bool | None = True
    digits: int = 3
    kind: MetricKind = "mean"
    """`rate`: 0 or 1 a sample; `mean`: a number a sample; `pooled`: a figure of the whole cell, such as kappa."""
    range: tuple[float, float] | None = (0.0, 1.0)
    """The least and the greatest value a sample can have; null where there is no end, as of tokens or seconds."""
    judged: Judged | None = None
    """How a person is asked what a model judges here; null where no model judges it."""

    def share(self, value: float) -> float:
        """Where a value lies on the range, from 0 to 1; itself where there is no end."""
        low, high = self.range or (0.0, 1.0)
        return (value - low) / (high - low)
