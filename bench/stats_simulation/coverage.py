"""How often 95% intervals of means and of differences cover the truth, and how wide they are beside the former ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.stats_simulation import former
from bench.stats_simulation.compared import columns_of, differences, means
from bench.stats_simulation.draws import Floats, Setting, batches, sweeps_of
from bench.stats_simulation.tables import GOALS, line, plural, table
from seedbed.analysis.intervals import FEW_SAMPLES
from seedbed.analysis.results import OverSamples

SIZES = (5, 10, 15, 20, 25, 30, 100, 300, 1000)
RATES = (0.02, 0.5, 0.98)
SEEDS = (1, 2, 3, 5, 10)
_BEFORE = (1, 3)
"""Seeds with which the former intervals stand beside, and with which the largest size is tried."""
CLUSTERS = {
    "60 in 5": (12,) * 5,
    "60 in 10": (6,) * 10,
    "120 in 30": (4,) * 30,
    "200 in 10, unequal": (60, 40, 30, 20, 15, 10, 10, 5, 5, 5),
}
FEW_CLUSTERS = CLUSTERS | {
    "60 in 5, unequal": (30, 15, 8, 4, 3),
    "100 in 11, half of them in one": (50,) + (5,) * 10,
    "24 in 4": (6,) * 4,
}


@dataclass
class Covered:
    """Shares of sweeps, and mean widths, of today's interval and of the former one."""

    share: float
    former: float
    width: float
    former_width: float
    without_width: float
    """Share of former intervals; today's have none."""

    @property
    def wider(self) -> str:
        return f"{self.width / self.former_width:.2f}"


def coverage(setting: Setting, sweeps: int, *, before: bool = True) -> tuple[Covered, Covered]:
    """Of the baseline's mean, and of the difference; `before`: with the former intervals too."""
    sums = np.zeros((2, 5))
    for rng, size in batches(setting, sweeps):
        own, base = sweeps_of(rng, setting, size)
        now = means(base, setting), differences(own - base, setting)
        old = now
        if before:
            old = former.mean_interval(columns_of(base, setting)), former.interval(columns_of(own - base, setting))
        sums[0] += _counts(now[0], old[0], setting.p)
        sums[1] += _counts(now[1], old[1], setting.gain)
    mean, difference = (Covered(*row) for row in (sums / sweeps).tolist())
    return mean, difference


def _counts(now: tuple[Floats, Floats], before: tuple[Floats, Floats], truth: float) -> list[float]:
    assert ((now[1] - now[0]) > 0).all(), "an interval without width"
    inside = [((low <= truth) & (truth <= high)).sum() for low, high in (now, before)]
    widths = [(high - low).sum() for low, high in (now, before)]
    return [*inside, *widths, (before[1] - before[0] <= 0).sum()]


def show_intervals(sweeps: int) -> None:
    found = {
        (kind, p, seeds): [coverage(Setting(kind, n, p, seeds), sweeps, before=seeds in _BEFORE) for n in _sizes(seeds)]
        for kind in ("f1", "0/1")
        for p in RATES
        for seeds in SEEDS
    }
    for which, name in enumerate(("mean", "difference")):
        table([f"{name} covered", *(f"n = {n}" for n in SIZES)])
        for (kind, p, seeds), cells in found.items():
            shown = [_cell(name, cell[which].share, n) for n, cell in zip(_sizes(seeds), cells, strict=True)]
            line(f"{kind}, p = {p}, {plural(seeds)}", *shown, *[""] * (len(SIZES) - len(shown)))
    for which, name in enumerate(("mean", "difference")):
        table([f"{name}: covered before, width now / before", *(f"n = {n}" for n in SIZES)])
        for (kind, p, seeds), cells in found.items():
            if seeds in _BEFORE:
                shown = [f"{cell[which].former:.1%}, {cell[which].wider}" for cell in cells]
                line(f"{kind}, p = {p}, {plural(seeds)}", *shown)


def _sizes(seeds: int) -> tuple[int, ...]:
    return SIZES if seeds in _BEFORE else SIZES[:-1]


def _cell(name: str, share: float, n: int) -> str:
    return GOALS[name].cell(share, high=None if n >= FEW_SAMPLES else 1.0)


def show_clusters(sweeps: int) -> None:
    heads = ["mean", "former", "width", "difference", "former", "width", "former without width", "report warns"]
    table(["clusters, samples a little alike", *heads])
    for name, sizes in CLUSTERS.items():
        for kind in ("f1", "0/1"):
            for p in RATES:
                for seeds in (1, 3):
                    setting = Setting(kind, sum(sizes), p, seeds, clusters=sizes)
                    _cluster_line(f"{kind}, p = {p}, {name}, {plural(seeds)}", setting, sweeps)
    table(["clusters, samples much alike (0/1, 1 seed)", *heads])
    for name, sizes in FEW_CLUSTERS.items():
        for p in (0.02, 0.1, 0.5):
            for alike in (0.1, 0.33, 1.0):
                setting = Setting("0/1", sum(sizes), p, clusters=sizes, alike=alike)
                _cluster_line(f"p = {p}, {name}, correlation {alike:g}", setting, sweeps)


def _cluster_line(name: str, setting: Setting, sweeps: int) -> None:
    mean, difference = coverage(setting, sweeps)
    counts = np.array(setting.clusters)
    alike = float(counts.sum() ** 2 / np.square(counts).sum())
    seen = OverSamples(setting.n, len(counts), None, None, None, None, equal_clusters=alike)
    warnings = [word for word, said in (("unequal", seen.unequal_clusters), ("few", seen.few_clusters)) if said]
    line(
        name,
        _cell("mean", mean.share, setting.n),
        mean.former,
        mean.wider,
        _cell("difference", difference.share, setting.n),
        difference.former,
        difference.wider,
        max(mean.without_width, difference.without_width),
        ", ".join(warnings) or "no",
    )


def show_one_sided(sweeps: int) -> None:
    """Beyond the scenarios: differences that only ever go one way, so that many sweeps show none at all."""
    table(["a system right wherever the baseline is, and in some more", "difference", "former", "width"])
    for n in (30, 60, 100, 300, 1000):
        for more in (0.02, 0.04):
            setting = Setting("0/1", n, p=0.5, gain=more)
            hits = np.zeros(4)
            for rng, size in batches(setting, sweeps, salt=2):
                gains = (rng.random((n, 1, size)) < more).astype(np.float64)
                old = former.interval(columns_of(gains, setting))
                hits += _counts(differences(gains, setting), old, more)[:4]
            covered = Covered(*(hits / sweeps).tolist(), without_width=0.0)
            line(f"n = {n}, {more:.0%} more", _cell("difference", covered.share, n), covered.former, covered.wider)
