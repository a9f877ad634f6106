"""Seedbed: LLM experiments over seeds, benchmarks and systems.

What a notebook and a plugin need is here; everything else is reached by its module.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seedbed.api.experiment import Experiment
    from seedbed.api.result import Result, load
    from seedbed.api.run import arun, run
    from seedbed.lm.providers import provider
    from seedbed.lm.types import Attempt, Provider
    from seedbed.suite import (
        Answer,
        Benchmark,
        BenchmarkOptions,
        BenchmarkSpec,
        Case,
        CellResult,
        Failure,
        Feedback,
        Figure,
        Metric,
        Options,
        PhaseContext,
        Prediction,
        SampleUsage,
        Scored,
        ScoreRow,
        ScorerSpec,
        Suite,
        SystemSpec,
        Table,
    )
    from seedbed.sweep.optimizers import Budget, Job, OptimizerOptions, optimizer
    from seedbed.sweep.registry import benchmark, register_suite, scorer, suite, system

__version__ = "0.1.0"

_ELSEWHERE = {
    "Attempt": "seedbed.lm.types",
    "Experiment": "seedbed.api.experiment",
    "Result": "seedbed.api.result",
    "arun": "seedbed.api.run",
    "load": "seedbed.api.result",
    "run": "seedbed.api.run",
    "Budget": "seedbed.sweep.optimizers",
    "Job": "seedbed.sweep.optimizers",
    "OptimizerOptions": "seedbed.sweep.optimizers",
    "Provider": "seedbed.lm.types",
    "benchmark": "seedbed.sweep.registry",
    "optimizer": "seedbed.sweep.optimizers",
    "provider": "seedbed.lm.providers",
    "register_suite": "seedbed.sweep.registry",
    "scorer": "seedbed.sweep.registry",
    "suite": "seedbed.sweep.registry",
    "system": "seedbed.sweep.registry",
}
"""Where a name comes from that is not in seedbed.suite."""

__all__ = [
    "Answer",
    "Attempt",
    "Benchmark",
    "BenchmarkOptions",
    "BenchmarkSpec",
    "Budget",
    "Case",
    "CellResult",
    "Experiment",
    "Failure",
    "Feedback",
    "Figure",
    "Job",
    "Metric",
    "OptimizerOptions",
    "Options",
    "PhaseContext",
    "Prediction",
    "Provider",
    "Result",
    "SampleUsage",
    "ScoreRow",
    "Scored",
    "ScorerSpec",
    "Suite",
    "SystemSpec",
    "Table",
    "arun",
    "benchmark",
    "load",
    "optimizer",
    "provider",
    "register_suite",
    "run",
    "scorer",
    "suite",
    "system",
]


def __getattr__(name: str) -> Any:
    """Imported at the first use: a command is to hear Ctrl-C before it has imported anything that takes time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "seedbed.suite")), name)


class _Package(ModuleType):
    """`seedbed.suite` is the decorator, also once the module of that name is imported, which would take its place."""

    @property
    def suite(self) -> Any:
        return import_module("seedbed.sweep.registry").suite

    @suite.setter
    def suite(self, _module: ModuleType) -> None:
        """The module is found by its name all the same."""


sys.modules[__name__].__class__ = _Package
