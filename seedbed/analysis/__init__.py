"""Statistics: intervals, comparisons, verdicts. Pure functions of numbers; docs/statistics.md says what holds."""

from seedbed.analysis.calibration import calibrated_mean
from seedbed.analysis.gate_rule import gate_verdict
from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.paired import PairedResult, compare_paired
from seedbed.analysis.pilot import samples_needed
from seedbed.analysis.stopping import Sequential, sequential

__all__ = [
    "PairedResult",
    "Sequential",
    "calibrated_mean",
    "compare_paired",
    "gate_verdict",
    "mean_interval",
    "samples_needed",
    "sequential",
]
