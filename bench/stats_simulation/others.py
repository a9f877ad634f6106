"""Missing answers, intervals over seeds, and figures that are no means of samples."""

from __future__ import annotations

import numpy as np

from bench.stats_simulation.draws import Ints, scores, stream
from bench.stats_simulation.tables import GOALS, line, table
from seedbed.analysis.jackknife import around
from seedbed.analysis.means import over_seeds
from seedbed.analysis.paired import ALPHA


def missing(sweeps: int, hard: bool, n: int = 100, share: float = 0.2) -> tuple[float, float, float]:
    """Two equal systems, one of which lacks a share of its answers: its mean minus the other's, how often it is ahead
    by its own mean, and on the samples that both have."""
    rng = stream("missing", hard)
    ease = rng.uniform(-0.3, 0.3, (n, sweeps))
    own, other = (scores(rng, "f1", 0.5 + ease) for _ in range(2))
    order = np.argsort(ease if hard else rng.random(ease.shape), axis=0)
    lost = np.zeros(ease.shape, dtype=bool)
    np.put_along_axis(lost, order[: int(share * n)], True, axis=0)
    mean = np.where(lost, 0, own).sum(axis=0) / (~lost).sum(axis=0)
    common = np.where(lost, 0, own - other).sum(axis=0) / (~lost).sum(axis=0)
    ahead = mean - other.mean(axis=0)
    return float(ahead.mean()), float((ahead > 0).mean()), float((common > 0).mean())


def show_missing(sweeps: int) -> None:
    table(
        ["one of two equal systems lacks 20%", "its mean is higher by", "ahead by its mean", "ahead on common samples"]
    )
    for hard in (False, True):
        shift, ahead, common = missing(sweeps, hard)
        line("on the hardest samples" if hard else "at random", f"{shift:+.3f}", ahead, common)


def seeds_study(sweeps: int, seeds: int) -> float:
    """Coverage of the t interval over seeds."""
    drawn = stream("seeds", seeds).normal(0.6, 0.03, (sweeps, seeds)).tolist()
    found = [over_seeds(values, (0.0, 1.0)) for values in drawn]
    return sum(f.ci_low is not None and f.ci_high is not None and f.ci_low <= 0.6 <= f.ci_high for f in found) / sweeps


def jackknife_study(sweeps: int, samples: int, blocks: int = 20) -> tuple[float, float, float]:
    """Coverage of the jackknife for a ratio of sums, the F1 of a class from hits, false and missed ones; of the
    difference of two systems that are equal; and how often these are called different."""
    # A sample is a hit with chance 0.3, false 0.2, missed 0.1, else nothing: F1 = 2*0.3 / (2*0.3 + 0.2 + 0.1).
    truth, counts = 0.6 / 0.9, np.zeros(3)
    rng = stream("jackknife", samples, blocks)
    kept = [np.arange(samples) % blocks != block for block in range(blocks)]
    for _ in range(sweeps):
        own, base = (rng.choice(4, samples, p=[0.3, 0.2, 0.1, 0.4]) for _ in range(2))
        figures = [(_class_f1(own[keep]), _class_f1(base[keep])) for keep in kept]
        mean = around(_class_f1(own), [a for a, _ in figures], samples, (0.0, 1.0), difference=False)
        apart = _class_f1(own) - _class_f1(base)
        both = around(apart, [a - b for a, b in figures], samples, (-1.0, 1.0), difference=True)
        counts += [mean.low <= truth <= mean.high, both.low <= 0 <= both.high, (both.p or 1.0) < ALPHA]
    covered, difference, alarms = (counts / sweeps).tolist()
    return covered, difference, alarms


def _class_f1(kinds: Ints) -> float:
    hit, false, lost = ((kinds == kind).sum() for kind in range(3))
    return float(2 * hit / (2 * hit + false + lost))


def show_figures(sweeps: int) -> None:
    table(["other intervals", "covered"])
    for seeds in (2, 3, 5, 10):
        line(f"t interval over {seeds} seeds", GOALS["mean"].cell(seeds_study(sweeps, seeds)))
    table(["jackknife of a class F1", "covered", "difference covered", "false alarms"])
    for samples, blocks in ((60, 6), (60, 20), (300, 20)):
        covered, difference, alarms = jackknife_study(sweeps, samples, blocks)
        shown = GOALS["mean"].cell(covered), GOALS["difference"].cell(difference), GOALS["alarms"].cell(alarms)
        line(f"{samples} samples in {blocks} blocks", *shown)
