"""The parts a suite is registered with, and the functions they are made of.

Targets are either the object itself or "package.module:name"; the latter is imported only when it is needed, so that
naming every suite costs nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from seedbed.suite.cases import Benchmark, BenchmarkOptions, Case, Feedback, Metric, Options, Prediction, ScoreRow
from seedbed.suite.context import PhaseContext
from seedbed.suite.report_parts import MakeReport

T = TypeVar("T")
Target: TypeAlias = T | str


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
    meta: Target[Callable[[Path, Any], str]] | None = None
    """`seedbed meta SUITE`: puts planted cases to the suite's judge. Writes its files into the folder, returns what to
    print; its options are `seedbed.suites.kit.meta.MetaOptions`."""
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
