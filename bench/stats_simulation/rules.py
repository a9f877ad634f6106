"""The gate and `detectable`: passes that are not earned, and the power at the value that is printed."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from bench.stats_simulation import former
from bench.stats_simulation.compared import FLIPS, columns_of, compared
from bench.stats_simulation.draws import Floats, Setting, batches, stream, sweeps_of
from bench.stats_simulation.tables import GOALS, line, table
from seedbed.analysis.columns import estimate
from seedbed.analysis.gate_rule import PASS_WEIGHT, lower_bound
from seedbed.analysis.paired import sample_p
from seedbed.analysis.power import Sized, detectable

_STUDIES = (200, 200, 200, 2000)
"""That print `detectable`, in rounds; the middle one of the last values is tried."""


def gate(setting: Setting, min_effect: float, sweeps: int) -> tuple[float, float, float, float]:
    """Passes of a night whose true drop is `min_effect`, by the former rule and now; the same of an unchanged night."""
    hits = np.zeros(4)
    for rng, size in batches(setting, sweeps):
        dropped = _passes(*sweeps_of(rng, replace(setting, gain=-min_effect), size), setting, min_effect)
        hits += [*dropped, *_passes(*sweeps_of(rng, setting, size), setting, min_effect)]
    a, b, c, d = (hits / sweeps).tolist()
    return a, b, c, d


def _passes(own: Floats, base: Floats, setting: Setting, min_effect: float) -> tuple[int, int]:
    columns = columns_of(own - base, setting)
    exact = setting.kind == "0/1" and not setting.clusters
    p = sample_p(columns, [exact] * own.shape[2], flips=FLIPS)
    most, everything = np.ones(own.shape[2]), np.full(own.shape[2], math.inf)
    # As `lower_bound`, for all sweeps at once.
    lowest, _ = estimate(columns.sums, columns.counts, -most, most, PASS_WEIGHT).interval(-everything, everything)
    assert math.isclose(lowest[0], lower_bound(columns.column(0), (0.0, 1.0)).lowest)
    return former.gate_passes(columns, p, min_effect), int((lowest >= -min_effect).sum())


def show_gate(sweeps: int) -> None:
    heads = ["drop passes, before", "now", "unchanged night passes, before", "now"]
    table(["gate, true drop = min_effect", *heads])
    nights = {
        "f1, 85% ties": Setting("f1", 100, p=0.7, ties=0.85),
        "f1, 40% ties": Setting("f1", 100),
        "0/1": Setting("0/1", 100),
    }
    for name, night in nights.items():
        for n, per in ((100, 1), (300, 1), (300, 5), (1000, 1)):
            for effect in (0.02, 0.05):
                clusters = (per,) * (n // per) if per > 1 else ()
                before, now, kept, keeps = gate(replace(night, n=n, clusters=clusters), effect, sweeps)
                size = f"n = {n}{' in fives' if per > 1 else ''}"
                line(f"{name}, {size}, min_effect {effect}", before, GOALS["gate"].cell(now), kept, keeps)


def power_at_detectable(setting: Setting, tests: int, sweeps: int, *, seeds: bool) -> tuple[float, float, float, float]:
    """What studies print whose true difference is just that and how often they find it; the same of the former one."""
    found: list[float] = []
    for before in (False, True):
        least = _printed(setting, tests, seeds=seeds, before=before)
        there = replace(setting, gain=least)
        known = not math.isnan(least)
        found += [least, _power(there, tests, sweeps, seeds=seeds and not before) if known else math.nan]
    return found[0], found[1], found[2], found[3]


def _printed(setting: Setting, tests: int, *, seeds: bool, before: bool) -> float:
    """Another difference has another spread: the value is looked for that a study with that difference prints."""
    rng, least = stream(setting, tests, 9), 0.0
    for studies in _STUDIES:
        there = replace(setting, gain=least)
        pilots = compared(*sweeps_of(rng, there, studies), there, seeds=seeds, flips=9)
        if before:
            least = float(np.median(former.detectable(pilots.columns)))
            continue
        printed = [value for i in range(studies) if (value := _detectable(pilots.sized(i), 0.05 / tests)) is not None]
        if len(printed) < studies / 2:
            return math.nan
        least = float(np.median(printed))
    return least


def _detectable(sized: Sized, level: float) -> float | None:
    if sized.test != "mcnemar":
        return detectable(sized, level)
    # Exact, and the same for all studies with as many pairs that differ.
    return _of_pairs(sized.n, sized.n_differ, level)


@cache
def _of_pairs(n: int, n_differ: int, level: float) -> float | None:
    return detectable(Sized(n, n, n_differ, 1.0, [], 1.0, "mcnemar"), level)


def _power(setting: Setting, tests: int, sweeps: int, *, seeds: bool) -> float:
    hits = 0
    for rng, size in batches(setting, sweeps, salt=1):
        p = compared(*sweeps_of(rng, setting, size), setting, seeds=seeds, flips=4999 if tests > 1 else FLIPS).p
        hits += int((p < 0.05 / tests).sum())
    return hits / sweeps


def show_detectable(sweeps: int) -> None:
    table(["`detectable`", "printed", "power there", "printed before", "power there"])
    for kind in ("f1", "0/1"):
        for n in (60, 100, 300):
            for tests in (1, 5, 20):
                _detectable_line(f"{kind}, n = {n}, Holm over {tests}", Setting(kind, n, p=0.3), sweeps, tests)
    for sizes in ((6,) * 10, (4,) * 30):
        setting = Setting("f1", sum(sizes), p=0.3, clusters=sizes)
        _detectable_line(f"f1, {setting.n} in {len(sizes)} clusters", setting, sweeps)
    for seeds in (3, 5, 10):
        for sd in (0.02, 0.05):
            setting = Setting("f1", 100, p=0.3, seeds=seeds, seed_sd=sd)
            _detectable_line(f"f1, n = 100, {seeds} seeds of an optimizer, sd {sd}", setting, sweeps, seeds=True)


def _detectable_line(name: str, setting: Setting, sweeps: int, tests: int = 1, *, seeds: bool = False) -> None:
    least, power, before, power_before = power_at_detectable(setting, tests, sweeps, seeds=seeds)
    line(name, f"{least:.3f}", GOALS["detectable"].cell(power), f"{before:.3f}", power_before)
