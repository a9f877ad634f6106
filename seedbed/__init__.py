"""Seedbed: LLM experiments over seeds, benchmarks and systems.

What a plugin needs is here; everything else is reached by its module.
"""

from seedbed.registry import benchmark, register_suite, system
from seedbed.suite import Benchmark, BenchmarkOptions, Case, Metric, Options, PhaseContext, Prediction, ScoreRow, Suite

__version__ = "0.1.0"

__all__ = [
    "Benchmark",
    "BenchmarkOptions",
    "Case",
    "Metric",
    "Options",
    "PhaseContext",
    "Prediction",
    "ScoreRow",
    "Suite",
    "benchmark",
    "register_suite",
    "system",
]
