"""A cell with everything its names stand for, looked up once and handed down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from seedbed.suite import (
    Benchmark,
    BenchmarkOptions,
    BenchmarkSpec,
    Metric,
    Options,
    ScorerSpec,
    Suite,
    SystemSpec,
    resolve,
)
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.normalise_config import NormaliseRule
from seedbed.sweep.optimizers import OptimizerSpec
from seedbed.sweep.repeats import PassFigure, pass_figures, repeats_of


@dataclass(frozen=True)
class AddedScorer:
    """A scorer that the config adds to a suite's own."""

    name: str
    spec: ScorerSpec
    options: Any

    label: str | None = None
    """Given where a config has two variants of one scorer: their metrics must not share a name."""

    @cached_property
    def declared(self) -> tuple[Metric, ...]:
        """Its metrics by their own names."""
        return self.spec.metrics(self.options) if callable(self.spec.metrics) else self.spec.metrics

    @property
    def teaching(self) -> tuple[Metric, ...]:
        """Those by whose values an optimizer can tell how good an answer is."""
        if self.spec.pairs:
            return ()
        return tuple(m for m in self.declared if m.range is not None and m.higher_is_better is not None)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """By the names they have in rows and tables."""
        return tuple(replace(m, name=self.metric_name(m.name), label=self._shown(m)) for m in self.declared)

    def metric_name(self, own: str) -> str:
        """What a metric of the scorer is called in rows and tables."""
        if self.label is None:
            return own
        return self.label if len(self.declared) == 1 else f"{self.label}_{own}"

    def _shown(self, metric: Metric) -> str:
        if self.label is None:
            return metric.label
        return self.label if len(self.declared) == 1 else f"{self.label} {metric.label}"


@dataclass(frozen=True)
class ResolvedCell:
    """What the names of a cell stand for. Cells that differ in their seed alone share it."""

    suite: Suite
    benchmark_name: str
    benchmark_spec: BenchmarkSpec
    benchmark_options: BenchmarkOptions
    """With `path` as the config has it."""
    data: Path
    """Where the cases are read from, as a path that can be opened."""
    system_name: str
    system_spec: SystemSpec
    system_options: Options
    seed_changes_system: bool
    """Whether a seed makes another system of it, said by the system or by the config; an optimizer apart."""
    normalise: tuple[NormaliseRule, ...]
    """What of its requests does not count when their answers are looked up."""
    optimizer_name: str
    optimizer_spec: OptimizerSpec | None
    """None for Baseline."""
    optimizer_options: Options
    scorers: tuple[AddedScorer, ...]
    model_names: Mapping[str, str]
    """Role -> name of the model that plays it, `task` among them."""
    models: Mapping[str, ModelConfig]
    """All models of the config by name."""
    answer_roles: tuple[str, ...]
    """Roles beside `task` whose models have a part in the answers."""
    score_roles: tuple[str, ...]
    """Roles whose models the suite's scorer and the added ones call."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Those of the suite, then those of added scorers and of repeats."""
        return (*self.suite.metrics, *self._added_metrics, *(figure.metric for figure in self.passes))

    @property
    def passes(self) -> tuple[PassFigure, ...]:
        """pass@k and pass^k of the added scorers, where the benchmark asks its cases more than once."""
        return tuple(pass_figures(repeats_of(self.benchmark_options), self._added_metrics))

    @property
    def _added_metrics(self) -> tuple[Metric, ...]:
        return tuple(metric for scorer in self.scorers for metric in scorer.metrics)

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles beside `task` whose models have a part in the cell's figures."""
        return tuple(dict.fromkeys((*self.answer_roles, *self.score_roles)))

    @property
    def calls_per_case(self) -> float:
        """Calls that the system is said to make for a case."""
        declared = self.system_options.declared_calls
        return self.system_spec.calls_per_case if declared is None else declared

    @property
    def role_models(self) -> Mapping[str, ModelConfig]:
        return {role: self.models[name] for role, name in self.model_names.items()}

    def load(self) -> Benchmark:
        """Read the cases."""
        options = self.benchmark_options
        if options.path is not None:
            options = options.model_copy(update={"path": self.data})
        return resolve(self.benchmark_spec.load)(options)

    def model(self, role: str = "task") -> tuple[str, ModelConfig]:
        """Name and settings of the model that plays a role; a role without one is played by the cell's own."""
        name = self.model_names.get(role, self.model_names["task"])
        return name, self.models[name]
