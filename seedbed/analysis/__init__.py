"""Statistics: intervals, comparisons, verdicts. Pure functions of numbers; docs/statistics.md says what holds."""

from seedbed.analysis.gate_rule import gate_verdict
from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.paired import PairedResult, compare_paired

__all__ = ["PairedResult", "compare_paired", "gate_verdict", "mean_interval"]
