"""What a suite is made of: cases, benchmarks, systems, a scorer. A reader of this file knows what a plugin must give.

Targets are either the object itself or "package.module:name"; the latter is imported only when it is needed, so that
naming every suite costs nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    import dspy
    from openai import AsyncOpenAI, OpenAI

    from seedbed.lm.embeddings import Embedder

T = TypeVar("T")
R = TypeVar("R")
MetricKind = Literal["rate", "mean", "pooled"]
Target: TypeAlias = T | str


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

    def share(self, value: float) -> float:
        """Where a value lies on the range, from 0 to 1; itself where there is no end."""
        low, high = self.range or (0.0, 1.0)
        return (value - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Address:
    """Where programs of any language find the model of a role, for one sample, until the phase ends."""

    root: str
    """What Anthropic's clients take for a base URL."""
    key: str = field(repr=False)

    @property
    def base_url(self) -> str:
        """What OpenAI's clients take for a base URL."""
        return f"{self.root}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which both find it."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": self.key,
            "ANTHROPIC_BASE_URL": self.root,
            "ANTHROPIC_API_KEY": self.key,
        }


class PhaseContext(Protocol):
    """What a system or a scorer may use of the cell it works for."""

    @property
    def benchmark(self) -> Benchmark: ...

    @property
    def seed(self) -> int: ...

    @property
    def cache_dir(self) -> Path:
        """A folder for things that are slow to make and safe to lose, such as an index."""
        ...

    @property
    def folder(self) -> Path:
        """The cell's own folder, for files beyond those every cell has; write them with `seedbed.storage.store`."""
        ...

    def lm(self, role: str = "task") -> dspy.LM:
        """The model of a role. Its calls are recorded under this cell, phase and role."""
        ...

    def has_role(self, role: str) -> bool:
        """Whether `roles:` of the config names a model for the role; else the cell's own model plays it."""
        ...

    def embedder(self, role: str = "embedding") -> Embedder:
        """The embeddings of a role, by an OpenAI-compatible endpoint; its calls are recorded as an LM's are."""
        ...

    def client(self, role: str = "task") -> AsyncOpenAI:
        """OpenAI's own client for a role. Its requests go straight into the runtime, recorded as an LM's are; the
        config's model answers, whatever name is asked for."""
        ...

    def sync_client(self, role: str = "task") -> OpenAI:
        """The same for plain functions, which run in threads."""
        ...

    def address(self, role: str = "task") -> Address:
        """The same for anything else that speaks the protocols of OpenAI or Anthropic: an address on this machine and a
        key. Ask for it inside the sample that it is for."""
        ...

    async def release(self, address: Address) -> None:
        """End an address before its phase ends, once the calls that are on their way have come back."""
        ...

    def revoke(self, address: Address) -> None:
        """End an address at once."""
        ...

    async def each(self, cases: Sequence[Case], work: Callable[[Case], Awaitable[R]]) -> list[R]:
        """Do some work for every case, as many at once as the model allows, results in the order of the cases.
        Calls made meanwhile are recorded under the case's sample id."""
        ...

    def answers_of_rival(self, against: str | None) -> Mapping[str, Prediction]:
        """By sample id, what the system gave that a pairing scorer compares with, for the same benchmark, model and
        seed: SYSTEM or SYSTEM+OPTIMIZER, null for the experiment's baseline. Empty for that system itself."""
        ...

    def sample_usage(self) -> Mapping[str, SampleUsage]:
        """By sample id, what the generate phase of this cell took; empty for samples without a call."""
        ...


class LoadBenchmark(Protocol):
    def __call__(self, options: Any) -> Benchmark: ...


class BuildSystem(Protocol):
    """Returns a dspy.Module or a callable (plain or async) that takes a case's inputs as keyword arguments."""

    def __call__(self, context: PhaseContext, options: Any) -> Callable[..., Any]: ...


class ScoreCell(Protocol):
    """Scores all predictions of a cell; must return one row a case, failures included."""

    async def __call__(
        self, context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]
    ) -> list[ScoreRow]: ...


class Aggregate(Protocol):
    """Turns the rows of a cell into its flat metrics; n, n_errors and n_skipped are always among them."""

    def __call__(self, rows: Sequence[ScoreRow]) -> dict[str, float | int | None]: ...


class ScoreGroup(Protocol):
    """Adds metrics that pair systems: rows and metrics of each label in, metrics of each label out."""

    def __call__(
        self, rows: Mapping[str, Sequence[ScoreRow]], metrics: Mapping[str, dict[str, Any]]
    ) -> dict[str, dict[str, Any]]: ...


class GiveFeedback(Protocol):
    """Judges one answer for an optimizer. Called from the optimizer's threads; may call `context.lm("judge")`."""

    def __call__(self, context: PhaseContext, case: Case, output: Mapping[str, Any]) -> Feedback: ...


class ScoreFile(Protocol):
    """`seedbed score SUITE FILE`: scores answers made elsewhere. Writes its files into `out`, returns what to print."""

    def __call__(self, path: Path, out: Path, options: Any) -> str: ...


@dataclass(frozen=True, slots=True)
class Table:
    """A part of a report: rows under headings. Cells are shown as they are; None is shown as "-"."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | int | None]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A part of a report: a drawing as SVG text and, if made with `seedbed.suites.kit.drawing.rendered`, as PNG."""

    title: str
    svg: str
    note: str = ""
    png: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure of a system as the tables of a report have it: over all seeds, with the interval over samples."""

    mean: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class CellResult:
    """A finished cell as a report sees it."""

    benchmark: str
    label: str
    model: str
    seed: int
    metrics: Mapping[str, Any]
    folder: Path
    """Where scores.jsonl and the other files of the cell lie."""
    shown: Mapping[str, Shown] = field(default_factory=dict[str, Shown])
    """What the report says of its system, by metric: who shows a figure again shows it with this interval."""


class MakeReport(Protocol):
    """The suite's own part of a report, from all its finished cells."""

    def __call__(self, cells: Sequence[CellResult]) -> Sequence[Table | Figure]: ...


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    load: Target[LoadBenchmark]
    options: Target[type[BenchmarkOptions]] = BenchmarkOptions
    data: Path | None = None
    """Shipped data (a file or folder), hashed into the cell id when the config gives no path."""
    version: str | None = None
    """Raise it when the code gives other cases; null takes the suite's, or the hash of a plugin's source."""
    known_by_cases: bool = False
    """Cells are known by the cases that were read, not by file and options: another format gives the same cells."""


@dataclass(frozen=True, slots=True)
class SystemSpec:
    build: Target[BuildSystem]
    options: Target[type[Options]] = Options
    roles: tuple[str, ...] = ()
    """Roles, beside `task`, whose models this system calls; they become part of the cell id."""
    calls_per_case: float = 1.0
    """Model calls a case takes, for estimates before a cent is spent."""
    evidence_tokens: float = 0.0
    """Tokens of retrieved text in a call, for the same estimates."""
    predictors: int | None = None
    """Prompts that an optimizer may change, for the same estimates; null takes one a call."""
    seed_changes_system: bool = False
    """Whether a seed makes another system of it, as training or a search does, and not only other draws: comparisons
    are then about other seeds too. With an optimizer every system is such."""
    version: str | None = None
    """Raise it when the code gives other answers; null takes the suite's, or the hash of a plugin's source."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a scorer says of one answer, where there is more to say than the values."""

    values: Mapping[str, float | None]
    """By metric; None where the metric is undefined for this answer."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Kept with the sample: a judge's reason, the parts of a score."""
    feedback: str = ""
    """Told to an optimizer that learns from this scorer: what was wrong, what was expected."""


ScorerValue: TypeAlias = "float | bool | Mapping[str, float | None] | Scored | None"
"""A number is the value of the scorer's only metric, a mapping has a value a metric, None is undefined."""


class ScoreSample(Protocol):
    """Scores one answer, plain or async. An exception leaves the metric undefined for the sample, and is counted."""

    def __call__(
        self, context: PhaseContext, case: Case, output: Mapping[str, Any], options: Any
    ) -> ScorerValue | Awaitable[ScorerValue]: ...


@dataclass(frozen=True, slots=True)
class ScorerSpec:
    """A scorer that can be added to any suite, in the YAML under `scorers:`."""

    score: Target[ScoreSample]
    metrics: tuple[Metric, ...] | Callable[[Any], tuple[Metric, ...]]
    """What it declares, by its options where they decide it; none of them `pooled`."""
    options: Target[type[Options]] = Options
    roles: tuple[str, ...] = ()
    """Roles whose models it calls."""
    calls_per_case: float = 0.0
    pairs: bool = False
    """Whether it compares with the answers of another system, which its option `against` names; that system then
    answers first. Optimizers do not learn from such a scorer."""
    version: str | Callable[[Any], str] | None = None
    """Raise it when the code gives other values; null takes Seedbed's, or the hash of a plugin's source. A function of
    the options where they name the code."""


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    title: str
    benchmarks: Mapping[str, BenchmarkSpec]
    systems: Mapping[str, SystemSpec]
    score: Target[ScoreCell]
    aggregate: Target[Aggregate]
    metrics: tuple[Metric, ...]
    """Its own; none where all figures come from the scorers that a config adds."""
    any_benchmark: BenchmarkSpec | None = None
    """What a benchmark is whose name the suite does not know; null refuses such names."""
    any_system: SystemSpec | None = None
    version: str | None = None
    """Part of every cell id. Raise it when cases or answers change; null takes the hash of a plugin's source."""
    scoring_version: str = "1"
    """Raise it when only scores change: stored answers are then scored again, nothing is generated."""
    reference_systems: tuple[str, ...] = ()
    """Systems that are in every sweep of the suite, named in the config or not, so that no table lacks them. They must
    call no model. Their comparisons are a family of their own and make no other test harder."""
    score_roles: tuple[str, ...] = ()
    """Roles whose models the scorer calls."""
    score_calls_per_case: float = 0.0
    optional_roles: tuple[str, ...] = ()
    """Roles among those of systems and scorer that are not played at all where the config names no model for them."""
    score_group: Target[ScoreGroup] | None = None
    console: Target[Callable[[Mapping[str, Mapping[str, Any]]], str]] | None = None
    """Writes the metrics of a group, by label, as the lines printed at the end of a sweep."""
    feedback: Target[GiveFeedback] | None = None
    """What optimizers learn from; without it they learn from the scorers that the config adds."""
    score_file: Target[ScoreFile] | None = None
    score_file_options: Target[type[Options]] = Options
    report: Target[MakeReport] | None = None
    offline: str | None = None
    """A module that teaches the offline model to answer the suite's prompts (`seedbed.offline.skill`). It is imported
    when such a model is made."""


def resolve(target: Target[T]) -> T:
    """The object behind a target, imported now if it was only named."""
    if not isinstance(target, str):
        return target
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
