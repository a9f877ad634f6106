"""Do the intervals cover and do the tests err as often as they say? Sweeps with a known truth, many times over.

    python -m bench.stats_simulation [--sweeps 2000] [--only intervals,clusters,seeds,gate,power,missing,figures]

Every simulated sweep has two systems on the same samples, and goes through the functions that reports are made with.
The tables in docs/statistics.md are what this prints.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seedbed.analysis.columns import Columns, Estimate, estimate
from seedbed.analysis.gate_rule import LowerBound, lower_bound
from seedbed.analysis.intervals import MEAN_WEIGHT, mean_estimate, wilson, wilson_applies
from seedbed.analysis.jackknife import around
from seedbed.analysis.means import over_seeds
from seedbed.analysis.paired import DIFFERENCE_WEIGHT, PairedColumns, paired_columns, sample_p
from seedbed.analysis.power import detectable
from seedbed.analysis.seeds import pooled_over_benchmarks, seed_spread, widened

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator
FLIPS = 1999
SIZES = (5, 10, 30, 100, 300, 1000)
TIES = 0.4
UNEQUAL = (60, 40, 30, 20, 15, 10, 10, 5, 5, 5)
_BATCH = 6_000_000
"""Numbers in memory at once."""


@dataclass(frozen=True)
class Setting:
    kind: str
    """`f1`: lumps at both ends, values between, and ties in 40% of the pairs; `0/1`."""
    n: int
    p: float = 0.5
    seeds: int = 1
    gain: float = 0.0
    seed_sd: float = 0.0
    """Spread of what a seed does to all samples of a system alike."""
    clusters: tuple[int, ...] = ()
    """Sizes; each sample its own where none are given."""
    ties: float = TIES
    """Of f1, the share of pairs that are alike."""

    @property
    def places(self) -> Ints:
        return np.repeat(np.arange(len(self.clusters)), self.clusters) if self.clusters else np.arange(self.n)


def scores(rng: Rng, kind: str, quality: Floats) -> Floats:
    """A score a sample with mean `quality`."""
    ends = (rng.random(quality.shape) < quality).astype(np.float64)
    if kind == "0/1":
        return ends
    inside = np.clip(quality, 1e-6, 1 - 1e-6)
    return np.where(rng.random(quality.shape) < 0.6, ends, rng.beta(4 * inside, 4 * (1 - inside)))


def sweeps_of(rng: Rng, setting: Setting, sweeps: int, shift: Floats | None = None) -> tuple[Floats, Floats]:
    """Scores of a system and of its baseline, samples x seeds x sweeps."""
    places = setting.places
    room = min(0.3, setting.p, 1 - setting.p)
    if setting.gain or setting.seed_sd:
        room = min(room, 0.2)
    shared = rng.uniform(-1, 1, (int(places.max()) + 1, 1, sweeps))[places]
    ease = room * (0.7 * shared + 0.3 * rng.uniform(-1, 1, (setting.n, 1, sweeps)))
    quality = np.broadcast_to(setting.p + ease, (setting.n, setting.seeds, sweeps))
    base = scores(rng, setting.kind, quality)
    if shift is None:
        shift = rng.normal(0, setting.seed_sd, (1, setting.seeds, sweeps)) if setting.seed_sd else np.zeros((1, 1, 1))
    tied = setting.kind == "f1"
    gain = (setting.gain + shift) / (1 - setting.ties if tied else 1.0)
    # What a cluster has in common differs between systems too.
    apart = (
        0.5 * room * (rng.uniform(-1, 1, shared.shape) if not setting.clusters else _per_cluster(rng, setting, sweeps))
    )
    own = scores(rng, setting.kind, np.clip(quality + gain + apart, 0, 1))
    return (np.where(rng.random(own.shape) < setting.ties, base, own) if tied else own), base


def _per_cluster(rng: Rng, setting: Setting, sweeps: int) -> Floats:
    return rng.uniform(-1, 1, (len(setting.clusters), 1, sweeps))[setting.places]


def batches(setting: Setting, sweeps: int, salt: int = 0) -> Iterator[tuple[Rng, int]]:
    size = max(1, min(sweeps, _BATCH // (setting.n * setting.seeds)))
    for number, start in enumerate(range(0, sweeps, size)):
        yield np.random.default_rng([setting.n, setting.seeds, number, salt]), min(size, sweeps - start)


def _columns(values: Floats, setting: Setting) -> Columns:
    return Columns.of(values.mean(axis=1), setting.places)


def mean_ends(values: Floats, setting: Setting) -> tuple[Floats, Floats]:
    """As `mean_interval` has them, for all sweeps at once."""
    columns, k = _columns(values, setting), values.shape[2]
    if wilson_applies(
        "rate" if setting.kind == "0/1" else "mean", setting.n, setting.seeds, singletons=columns.singletons
    ):
        found = [wilson(float(hits), setting.n) for hits in columns.sums.sum(axis=0)]
        return np.array([f.low for f in found if f]), np.array([f.high for f in found if f])
    low, high = np.zeros(k), np.ones(k)
    return mean_estimate(columns, low, high).interval(low, high)


def difference_ends(values: Floats, setting: Setting) -> tuple[Floats, Floats]:
    columns, k = _columns(values, setting), values.shape[2]
    made = estimate(columns.sums, columns.counts, -np.ones(k), np.ones(k), DIFFERENCE_WEIGHT)
    return made.interval(-np.ones(k), np.ones(k))


def coverage(setting: Setting, sweeps: int) -> tuple[float, float, float]:
    """Shares: mean covered, difference covered, without width."""
    hits = np.zeros(3)
    for rng, size in batches(setting, sweeps):
        own, base = sweeps_of(rng, setting, size)
        low, high = mean_ends(base, setting)
        below, above = difference_ends(own - base, setting)
        truth = setting.gain
        hits += [
            ((low <= setting.p) & (setting.p <= high)).sum(),
            ((below <= truth) & (truth <= above)).sum(),
            ((high - low <= 0) | (above - below <= 0)).sum(),
        ]
    found = hits / sweeps
    return float(found[0]), float(found[1]), float(found[2])


def all_compared(own: Floats, base: Floats, setting: Setting, *, seeds: bool, flips: int = FLIPS) -> PairedColumns:
    """As `compare_paired`, for all sweeps at once."""
    differences, k = own - base, own.shape[2]
    exact = setting.kind == "0/1" and setting.seeds == 1 and not setting.clusters
    spread = seed_spread(differences, setting.places) if seeds else None
    return paired_columns(_columns(differences, setting), [(0.0, 1.0)] * k, [exact] * k, spread, flips=flips)


def alarms(setting: Setting, sweeps: int) -> tuple[float, float, float]:
    """Shares of sweeps whose test by sample, and whose test over seeds too, is significant; coverage of the latter."""
    hits = np.zeros(3)
    for rng, size in batches(setting, sweeps):
        own, base = sweeps_of(rng, setting, size)
        naive = all_compared(own, base, setting, seeds=False)
        honest = all_compared(own, base, setting, seeds=True)
        inside = (honest.low <= setting.gain) & (setting.gain <= honest.high)
        hits += [(naive.p < 0.05).sum(), (honest.p < 0.05).sum(), inside.sum()]
    found = hits / sweeps
    return float(found[0]), float(found[1]), float(found[2])


def pooled_alarms(setting: Setting, benchmarks: int, sweeps: int) -> float:
    """False alarms of one benchmark whose spread over seeds is pooled with that of others."""
    hits = 0
    for rng, size in batches(setting, sweeps):
        made = [sweeps_of(rng, setting, size) for _ in range(benchmarks)]
        spreads = pooled_over_benchmarks([seed_spread(own - base, setting.places) for own, base in made])
        own, base = made[0]
        over_samples = all_compared(own, base, setting, seeds=False)
        most = np.ones(size)
        p, _ = widened(spreads[0], over_samples.p, (over_samples.low, over_samples.high), (-most, most))
        hits += int((p < 0.05).sum())
    return hits / sweeps


def gate(setting: Setting, min_effect: float, sweeps: int) -> tuple[float, float, float]:
    """Passes of a night whose true drop is `min_effect`: by significance, as it was, and by the bound; passes of an
    unchanged night."""
    hits = np.zeros(3)
    dropped = replace(setting, gain=-min_effect)
    for rng, size in batches(setting, sweeps):
        own, base = sweeps_of(rng, dropped, size)
        hits[0] += _passes_by_significance(own, base, dropped, min_effect).sum()
        hits[1] += _passes(own, base, dropped, min_effect)
        own, base = sweeps_of(rng, setting, size)
        hits[2] += _passes(own, base, setting, min_effect)
    found = hits / sweeps
    return float(found[0]), float(found[1]), float(found[2])


def _passes(own: Floats, base: Floats, setting: Setting, min_effect: float) -> int:
    columns = _columns(own - base, setting)
    bounds: list[LowerBound] = [lower_bound(columns.column(i), (0.0, 1.0)) for i in range(own.shape[2])]
    return sum(bound.lowest >= -min_effect for bound in bounds)


def _passes_by_significance(own: Floats, base: Floats, setting: Setting, min_effect: float) -> NDArray[np.bool_]:
    """No significant drop beyond min_effect, and either a significant difference or an interval within."""
    columns = _columns(own - base, setting)
    k = own.shape[2]
    infinite = np.full(k, np.inf)
    plain: Estimate = estimate(columns.sums, columns.counts, -np.ones(k), np.ones(k), 0.0)
    low, high = plain.interval(-infinite, infinite)
    p = sample_p(columns, [False] * k, flips=FLIPS)
    return ((p < 0.05) & (plain.mean > -min_effect)) | ((low >= -min_effect) & (high <= min_effect))


def power_at_detectable(setting: Setting, tests: int, sweeps: int, *, seeds: bool = False) -> tuple[float, float]:
    """What studies print whose true difference is just that, and how often they find it."""
    rng = np.random.default_rng([setting.n, tests, 9])
    least, there = 0.0, setting
    # Another difference has another spread: the value is looked for that a study with that difference prints.
    for _ in range(4):
        there = replace(setting, gain=least)
        pilots = all_compared(*sweeps_of(rng, there, 200), there, seeds=seeds, flips=9)
        printed = [found for i in range(200) if (found := detectable(pilots.sized(i), 0.05 / tests)) is not None]
        if len(printed) < 100:
            return math.nan, math.nan
        least = float(np.median(printed))
    hits, there = 0, replace(setting, gain=least)
    for generator, size in batches(setting, sweeps, salt=1):
        found = all_compared(*sweeps_of(generator, there, size), there, seeds=seeds, flips=9999 if tests > 1 else FLIPS)
        hits += int((found.p < 0.05 / tests).sum())
    return least, hits / sweeps


def missing(sweeps: int, hard: bool, n: int = 100, share: float = 0.2) -> tuple[float, float, float]:
    """Two equal systems, one of which lacks a share of its answers: its mean minus the other's, how often it is ahead
    by its own mean, and on the samples that both have."""
    rng = np.random.default_rng([7, hard])
    ease = rng.uniform(-0.3, 0.3, (n, sweeps))
    own, other = (scores(rng, "f1", 0.5 + ease) for _ in range(2))
    order = np.argsort(ease if hard else rng.random(ease.shape), axis=0)
    lost = np.zeros(ease.shape, dtype=bool)
    np.put_along_axis(lost, order[: int(share * n)], True, axis=0)
    mean = np.where(lost, 0, own).sum(axis=0) / (~lost).sum(axis=0)
    common = np.where(lost, 0, own - other).sum(axis=0) / (~lost).sum(axis=0)
    ahead = mean - other.mean(axis=0)
    return float(ahead.mean()), float((ahead > 0).mean()), float((common > 0).mean())


def seeds_study(sweeps: int, seeds: int) -> float:
    """Coverage of the t interval over seeds."""
    drawn = np.random.default_rng(seeds).normal(0.6, 0.03, (sweeps, seeds)).tolist()
    found = [over_seeds(values, (0.0, 1.0)) for values in drawn]
    return sum(f.ci_low is not None and f.ci_high is not None and f.ci_low <= 0.6 <= f.ci_high for f in found) / sweeps


def jackknife_study(sweeps: int, samples: int, blocks: int = 20) -> float:
    """Coverage of the jackknife for a ratio of sums, the F1 of a class from hits, false and missed ones."""
    # A sample is a hit with chance 0.3, false 0.2, missed 0.1, else nothing: F1 = 2*0.3 / (2*0.3 + 0.2 + 0.1).
    truth, covered = 0.6 / 0.9, 0

    def f1(kinds: Ints) -> float:
        hit, false, lost = ((kinds == kind).sum() for kind in range(3))
        return float(2 * hit / (2 * hit + false + lost))

    for number in range(sweeps):
        kinds = np.random.default_rng([number, samples]).choice(4, samples, p=[0.3, 0.2, 0.1, 0.4])
        parts = [f1(kinds[np.arange(samples) % blocks != block]) for block in range(blocks)]
        found = around(f1(kinds), parts, samples, (0.0, 1.0), MEAN_WEIGHT)
        covered += found.low <= truth <= found.high
    return covered / sweeps


def _table(columns: Sequence[str]) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def _line(*cells: str | float) -> None:
    shown = [cell if isinstance(cell, str) else "-" if math.isnan(cell) else f"{cell:.1%}" for cell in cells]
    print(f"| {' | '.join(shown)} |", flush=True)


def show_intervals(sweeps: int) -> None:
    for title, which in (("mean", 0), ("difference", 1)):
        _table([f"{title} covered", *(f"n = {n}" for n in SIZES)])
        for kind in ("f1", "0/1"):
            for p in (0.02, 0.5, 0.98):
                for seeds in (1, 3):
                    found = [coverage(Setting(kind, n, p, seeds), sweeps)[which] for n in SIZES]
                    _line(f"{kind}, p = {p}, {seeds} seed{'s' * (seeds > 1)}", *found)


def show_clusters(sweeps: int) -> None:
    sizes = {
        "60 in 5": (12,) * 5,
        "60 in 10": (6,) * 10,
        "120 in 30": (4,) * 30,
        "unequal, 200 in 10": UNEQUAL,
    }
    _table(["clusters", "mean covered", "difference covered", "without width"])
    for name, own in sizes.items():
        for kind in ("f1", "0/1"):
            for seeds in (1, 3):
                setting = Setting(kind, sum(own), 0.5, seeds, clusters=own)
                _line(f"{kind}, {name}, {seeds} seed{'s' * (seeds > 1)}", *coverage(setting, sweeps))


def show_seeds(sweeps: int) -> None:
    _table(["false alarms, every seed another system", "by sample", "by sample and seed", "difference covered"])
    for n in (100, 300):
        for seeds in (2, 3, 5, 10):
            for sd in (0.0, 0.02, 0.05, 0.1):
                setting = Setting("f1", n, seeds=seeds, seed_sd=sd)
                _line(f"n = {n}, {seeds} seeds, sd {sd}", *alarms(setting, sweeps))
    for kind in ("f1", "0/1"):
        _line(f"{kind}, n = 100, 1 seed, a system that seeds do not change", alarms_by_sample(kind, sweeps), "", "")
    for k in (2, 4):
        for sd in (0.02, 0.1):
            found = pooled_alarms(Setting("f1", 100, seeds=3, seed_sd=sd), k, sweeps)
            _line(f"n = 100, 3 seeds, sd {sd}, {k} benchmarks pooled", "", found, "")
    _table(["power, true gain 0.12, n = 100", "by sample", "by sample and seed", "difference covered"])
    for seeds in (3, 5):
        for sd in (0.0, 0.05):
            setting = Setting("f1", 100, seeds=seeds, seed_sd=sd, gain=0.12)
            _line(f"{seeds} seeds, sd {sd}", *alarms(setting, sweeps))


def alarms_by_sample(kind: str, sweeps: int) -> float:
    setting = Setting(kind, 100)
    hits = 0
    for rng, size in batches(setting, sweeps):
        hits += int((all_compared(*sweeps_of(rng, setting, size), setting, seeds=False).p < 0.05).sum())
    return hits / sweeps


def show_gate(sweeps: int) -> None:
    _table(["gate, true drop = min_effect", "passes by significance", "passes by the bound", "unchanged night passes"])
    nights = {
        "f1, 85% ties": Setting("f1", 100, p=0.7, ties=0.85),
        "f1, 40% ties": Setting("f1", 100),
        "0/1": Setting("0/1", 100),
    }
    for name, night in nights.items():
        for n, per in ((100, 1), (300, 1), (300, 5), (1000, 1)):
            for effect in (0.02, 0.05):
                clusters = (per,) * (n // per) if per > 1 else ()
                found = gate(replace(night, n=n, clusters=clusters), effect, sweeps)
                _line(f"{name}, n = {n}{' in fives' if per > 1 else ''}, min_effect {effect}", *found)


def show_power(sweeps: int) -> None:
    _table(["`detectable`", "printed", "power there"])
    for kind in ("f1", "0/1"):
        for n in (60, 100, 300):
            for tests in (1, 5, 20):
                least, power = power_at_detectable(Setting(kind, n, p=0.3), tests, sweeps)
                _line(f"{kind}, n = {n}, Holm over {tests}", f"{least:.3f}", power)
    for clusters in ((6,) * 10, (4,) * 30):
        setting = Setting("f1", sum(clusters), p=0.3, clusters=clusters)
        least, power = power_at_detectable(setting, 1, sweeps)
        _line(f"f1, {setting.n} in {len(clusters)} clusters", f"{least:.3f}", power)
    for seeds in (3, 5, 10):
        for sd in (0.02, 0.05):
            setting = Setting("f1", 100, p=0.3, seeds=seeds, seed_sd=sd)
            least, power = power_at_detectable(setting, 1, sweeps, seeds=True)
            _line(f"f1, n = 100, {seeds} seeds of an optimizer, sd {sd}", f"{least:.3f}", power)


def show_missing(sweeps: int) -> None:
    _table(
        ["one of two equal systems lacks 20%", "its mean is higher by", "ahead by its mean", "ahead on common samples"]
    )
    for hard in (False, True):
        shift, ahead, common = missing(sweeps, hard)
        _line("on the hardest samples" if hard else "at random", f"{shift:+.3f}", ahead, common)


def show_figures(sweeps: int) -> None:
    _table(["other intervals", "covered"])
    for seeds in (3, 5, 10):
        _line(f"t interval over {seeds} seeds", seeds_study(sweeps, seeds))
    for samples in (60, 300):
        _line(f"jackknife of a class F1, {samples} samples", jackknife_study(sweeps, samples))


PARTS: dict[str, Callable[[int], None]] = {
    "intervals": show_intervals,
    "clusters": show_clusters,
    "seeds": show_seeds,
    "gate": show_gate,
    "power": show_power,
    "missing": show_missing,
    "figures": show_figures,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--only", default=",".join(PARTS), help="parts to simulate")
    arguments = parser.parse_args()
    for part in arguments.only.split(","):
        PARTS[part](arguments.sweeps)
    error = 1.96 * math.sqrt(0.05 * 0.95 / arguments.sweeps)
    print(f"\n{arguments.sweeps} sweeps a line; simulation error of a share near 95% or 5%: ±{error:.1%}")


if __name__ == "__main__":
    main()
