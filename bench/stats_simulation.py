"""Do the intervals cover and do the tests err as often as they say? Sweeps with a known truth, many times over.

    python -m bench.stats_simulation [--sweeps 2000]

Every simulated sweep has two systems on the same samples. `mean` is the interval of one system's mean over samples,
`difference` that of the paired difference, `false alarms` how often the paired test finds a difference where there is
none. The table in docs/statistics.md is what this prints.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.analysis.comparisons import Columns
from seedbed.analysis.jackknife import Jackknife
from seedbed.analysis.means import over_seeds
from seedbed.analysis.paired import bootstrap_interval, mcnemar_of, rate_interval, resampled_means, sign_flip_p

Floats = NDArray[np.float64]
Rng = np.random.Generator
DRAWS, FLIPS = 1000, 2000
GAIN = 0.05
"""The true difference where there is one."""


@dataclass(frozen=True)
class Scenario:
    name: str
    samples: int
    per_cluster: int
    seeds: int
    scores: Callable[[Rng, Floats], Floats]
    """Scores of one seed, given each sample's chance of a good answer."""
    seed_effect: float = 0.0
    """Spread of what a seed does to all samples of a system alike."""


def f1_like(rng: Rng, quality: Floats) -> Floats:
    """Zeros, ones and values between, with mean `quality`: a lump at each end, as F1 has."""
    kind = rng.random(quality.shape)
    between = rng.beta(2, 2, quality.shape)
    ends = (rng.random(quality.shape) < quality).astype(np.float64)
    return np.where(kind < 0.6, ends, quality + 0.6 * (between - 0.5))


def right_or_wrong(rng: Rng, quality: Floats) -> Floats:
    return (rng.random(quality.shape) < quality).astype(np.float64)


SCENARIOS = (
    Scenario("F1-like, 300 samples, 3 seeds", 300, 1, 3, f1_like),
    Scenario("F1-like, 100 samples, 3 seeds", 100, 1, 3, f1_like),
    Scenario("F1-like, 30 samples, 1 seed", 30, 1, 1, f1_like),
    Scenario("F1-like, 120 samples in 30 clusters, 2 seeds", 120, 4, 2, f1_like),
    Scenario("0/1, 100 samples, 1 seed", 100, 1, 1, right_or_wrong),
    Scenario("F1-like, 100 samples, 3 seeds, seeds differ", 100, 1, 3, f1_like, seed_effect=0.05),
)


def sweep(rng: Rng, scenario: Scenario, gain: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Two systems' scores, mean over seeds, and the clusters."""
    n = scenario.samples
    clusters = np.arange(n) // scenario.per_cluster
    ease = rng.uniform(-0.2, 0.2, clusters.max() + 1)[clusters] + rng.uniform(-0.1, 0.1, n)
    systems: list[Floats] = []
    for centre in (0.5, 0.5 + gain):
        shifts = rng.normal(0, scenario.seed_effect, scenario.seeds) if scenario.seed_effect else [0.0] * scenario.seeds
        runs = [scenario.scores(rng, np.clip(centre + shift + ease, 0, 1)) for shift in shifts]
        systems.append(np.mean(runs, axis=0))
    return systems[0], systems[1], clusters


def study(scenario: Scenario, sweeps: int) -> tuple[float, float, float]:
    """Shares: mean covered, difference covered, false alarms."""
    covered = differences = alarms = 0
    for number in range(sweeps):
        rng = np.random.default_rng([number, scenario.samples])
        base, own, clusters = sweep(rng, scenario, GAIN)
        columns = Columns.of(np.column_stack([base, own - base]), clusters)
        means = resampled_means(columns.sums, columns.counts, number, DRAWS)
        rate = rate_interval(base.tolist()) if columns.singletons else None
        found = rate or bootstrap_interval(means[:, 0], columns.clusters(0))
        other = bootstrap_interval(means[:, 1], columns.clusters(1))
        covered += found is not None and found.low <= 0.5 <= found.high
        differences += other is not None and other.low <= GAIN <= other.high
        base, own, clusters = sweep(rng, scenario, 0.0)
        alarms += _p(own - base, base, clusters, number) < 0.05
    return covered / sweeps, differences / sweeps, alarms / sweeps


def _p(difference: Floats, base: Floats, clusters: NDArray[np.int64], seed: int) -> float:
    columns = Columns.of(difference[:, None], clusters)
    if columns.singletons and set(base.tolist()) <= {0.0, 1.0} and set(difference.tolist()) <= {-1.0, 0.0, 1.0}:
        return mcnemar_of(difference.tolist())
    return sign_flip_p(columns.sums, seed, FLIPS)[0]


def seeds_study(sweeps: int, seeds: int) -> float:
    """Coverage of the t interval over seeds."""
    hits = 0
    for number in range(sweeps):
        figure = over_seeds(np.random.default_rng([number, seeds]).normal(0.6, 0.03, seeds).tolist())
        hits += figure.ci_low is not None and figure.ci_high is not None and figure.ci_low <= 0.6 <= figure.ci_high
    return hits / sweeps


def jackknife_study(sweeps: int, samples: int, blocks: int = 20) -> float:
    """Coverage of the jackknife for a ratio of sums, the F1 of a class from hits, false and missed ones."""
    # A sample is a hit with chance 0.3, false 0.2, missed 0.1, else nothing: F1 = 2*0.3 / (2*0.3 + 0.2 + 0.1).
    truth, covered = 0.6 / 0.9, 0

    def f1(kinds: NDArray[np.int64]) -> float:
        hit, false, missed = ((kinds == kind).sum() for kind in range(3))
        return float(2 * hit / (2 * hit + false + missed))

    for number in range(sweeps):
        kinds = np.random.default_rng([number, samples]).choice(4, samples, p=[0.3, 0.2, 0.1, 0.4])
        parts: Sequence[float] = [f1(kinds[np.arange(samples) % blocks != block]) for block in range(blocks)]
        made = Jackknife({"s": {"f1": f1(kinds)}}, [{"s": {"f1": part}} for part in parts], samples, samples)
        found = made.interval("s", "f1")
        covered += found is not None and found.low <= truth <= found.high
    return covered / sweeps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=2000)
    sweeps = parser.parse_args().sweeps
    print("| simulated sweep | mean covered | difference covered | false alarms |\n|---|---|---|---|")
    for scenario in SCENARIOS:
        covered, differences, alarms = study(scenario, sweeps)
        print(f"| {scenario.name} | {covered:.1%} | {differences:.1%} | {alarms:.1%} |", flush=True)
    for seeds in (3, 5, 10):
        print(f"| t interval over {seeds} seeds | {seeds_study(sweeps, seeds):.1%} | | |")
    for samples in (60, 300):
        print(
            f"| jackknife of a class F1, {samples} samples | {jackknife_study(sweeps, samples):.1%} | | |", flush=True
        )
    error = 1.96 * math.sqrt(0.05 * 0.95 / sweeps)
    print(f"\n{sweeps} sweeps a line; simulation error of a share near 95% or 5%: ±{error:.1%}")


if __name__ == "__main__":
    main()
