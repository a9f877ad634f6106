"""All sweeps of a setting through the functions of reports at once."""

from __future__ import annotations

import numpy as np

from bench.stats_simulation.draws import Floats, Setting
from seedbed.analysis.columns import Columns
from seedbed.analysis.intervals import mean_ends, wilson, wilson_applies
from seedbed.analysis.paired import PairedColumns, difference_ends, paired_columns
from seedbed.analysis.seeds import seed_spread

FLIPS = 1999


def columns_of(values: Floats, setting: Setting) -> Columns:
    return Columns.of(values.mean(axis=1), setting.places)


def means(values: Floats, setting: Setting) -> tuple[Floats, Floats]:
    """As `mean_interval` has them."""
    columns, sweeps = columns_of(values, setting), values.shape[2]
    kind = "rate" if setting.kind == "0/1" else "mean"
    if wilson_applies(kind, setting.n, setting.seeds, singletons=columns.singletons):
        found = [wilson(float(hits), setting.n) for hits in columns.sums.sum(axis=0)]
        return np.array([f.low for f in found if f]), np.array([f.high for f in found if f])
    return mean_ends(columns.sums, columns.counts, np.zeros(sweeps), np.ones(sweeps))


def differences(values: Floats, setting: Setting) -> tuple[Floats, Floats]:
    """As `compare_paired` has them for systems that seeds do not change."""
    return difference_ends(columns_of(values, setting), np.ones(values.shape[2]))


def compared(own: Floats, base: Floats, setting: Setting, *, seeds: bool, flips: int = FLIPS) -> PairedColumns:
    """As `compare_paired`; with `seeds`, of a system that every seed makes anew."""
    apart, sweeps = own - base, own.shape[2]
    exact = setting.kind == "0/1" and setting.seeds == 1 and not setting.clusters
    spread = seed_spread(apart, setting.places) if seeds else None
    ranges = [(0.0, 1.0)] * sweeps
    return paired_columns(columns_of(apart, setting), ranges, [exact] * sweeps, spread, flips=flips)
