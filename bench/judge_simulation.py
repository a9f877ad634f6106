"""`python -m bench.judge_simulation`: sweeps with a planted judge, labelled as `seedbed label` draws them.

Each sweep draws samples by the page's own functions (`analysis/label_draw.py`), labels the first k and corrects by
`analysis/corrected.py`, as the report does: how often do the intervals of a system's mean and of the difference of two
systems cover the truth, and how many labels without a judge would say as much as one with it?
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.analysis.corrected import Corrected, corrected
from seedbed.analysis.label_draw import chances, order, sizes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A judge's error: `lenient` to all, `favour` more to the second system, `noise` by chance, as a share of the range
    (of a rate: the chance to say the opposite)."""

    kind: str
    lenient: float
    favour: float
    noise: float
    ties: float = 0.0
    """Samples to which both systems gave the same answer."""
    votes: int = 1
    """Above 1 the judge errs more where its votes differ."""
    per_cluster: int = 1

    @property
    def name(self) -> str:
        parts = [self.kind, f"noise {self.noise:g}", f"lenient {self.lenient:g}", f"favours {self.favour:g}"]
        parts += [f"{self.ties:.0%} same answers"] * bool(self.ties) + [f"{self.votes} votes"] * (self.votes > 1)
        return ", ".join([*parts, *[f"{self.per_cluster} a cluster"] * (self.per_cluster > 1)])


SETTINGS = [
    *(Setting(kind, 0.08, 0.08, noise) for kind, noise in (("score", 0.08), ("score", 0.3), ("marks 1-5", 0.12))),
    *(Setting("rate", 0.08, 0.08, noise) for noise in (0.03, 0.25)),
    Setting("score", 0.0, 0.15, 0.08),
    Setting("score", 0.2, 0.0, 0.08),
    Setting("rate", 0.0, 0.2, 0.05),
    Setting("score", 0.08, 0.08, 0.08, ties=0.4),
    Setting("rate", 0.08, 0.08, 0.03, ties=0.4),
    Setting("score", 0.08, 0.08, 0.15, votes=3),
    Setting("rate", 0.08, 0.08, 0.1, votes=3),
    Setting("score", 0.08, 0.08, 0.08, per_cluster=4),
]


@dataclass(frozen=True)
class Sweep:
    truth: Floats
    """Samples x two systems."""
    judged: Floats
    doubt: Floats
    same: NDArray[np.bool_]
    clusters: NDArray[np.int64]


def draw_sweep(setting: Setting, n: int, rng: np.random.Generator) -> Sweep:
    """What people would say of every answer, and what the judge says."""
    clusters = np.arange(n) // setting.per_cluster
    shared = rng.normal(0, 1, n // setting.per_cluster + 1)[clusters]
    level = 0.8 * shared + 0.6 * rng.normal(0, 1, n) if setting.per_cluster > 1 else rng.normal(0, 1, n)
    ability = np.clip(0.5 + 0.22 * level, 0.02, 0.98)[:, None] + np.array([0.0, 0.03])
    if setting.kind == "rate":
        truth = (rng.random((n, 2)) < ability).astype(np.float64)
    else:
        truth = np.clip(ability + rng.normal(0, 0.15, (n, 2)), 0, 1)
        truth = np.round(truth * 4) / 4 if setting.kind == "marks 1-5" else truth
    same = rng.random(n) < setting.ties
    truth[same, 1] = truth[same, 0]
    hard = np.where(rng.random(n) < 0.3, 2.2, 0.35) if setting.votes > 1 else np.ones(n)
    votes = np.stack([_vote(setting, truth, hard[:, None], rng) for _ in range(setting.votes)])
    judged = votes.mean(axis=0)
    judged[same, 1] = judged[same, 0]
    doubt = votes.std(axis=0).mean(axis=1) if setting.votes > 1 else np.full(n, np.nan)
    return Sweep(truth, judged, doubt, same, clusters)


def _vote(setting: Setting, truth: Floats, hard: Floats, rng: np.random.Generator) -> Floats:
    kind = np.array([setting.lenient, setting.lenient + setting.favour])
    if setting.kind == "rate":
        said = np.where(rng.random(truth.shape) < setting.noise * hard, 1 - truth, truth)
        return np.where(rng.random(truth.shape) < kind, 1.0, said)
    said = np.clip(truth + kind + rng.normal(0, setting.noise, truth.shape) * hard, 0, 1)
    return np.round(said * 4) / 4 if setting.kind == "marks 1-5" else said


def figures(setting: Setting, sweep: Sweep, k: int, numbers: Floats) -> list[tuple[Corrected, float, bool]]:
    """The mean of the second system and its difference from the first: corrected, with the variance of the same number
    of labels drawn with equal chances and no judge, and whether the judge alone covers the truth."""
    size = sizes(sweep.doubt)
    taken, chance = order(numbers, size)[:k], chances(numbers, size, k)
    plain = order(numbers, np.ones(len(numbers)))[:k]
    found: list[tuple[Corrected, float, bool]] = []
    for truth, judged, sure, target in (
        (sweep.truth[:, 1], sweep.judged[:, 1], None, TRUTHS[setting][0]),
        (np.diff(sweep.truth)[:, 0], np.diff(sweep.judged)[:, 0], sweep.same, TRUTHS[setting][1]),
    ):
        labels = np.full(len(truth), np.nan)
        labels[taken] = truth[taken]
        made = corrected(
            labels, judged, judged, chance, sweep.clusters,
            certain=sure, step=1.0, two_marks=setting.kind == "rate",
        )  # fmt: skip
        assert made is not None
        half = 1.96 * float(judged.std()) / len(judged) ** 0.5
        alone = abs(float(judged.mean()) - target) <= half
        found.append((made, float(truth[plain].var(ddof=1)) / k, alone))
    return found


TRUTHS: dict[Setting, tuple[float, float]] = {}


def simulate(setting: Setting, n: int, k: int, sweeps: int) -> dict[str, Any]:
    """Shares of sweeps covered, by the correction and by the judge alone, and what a label is worth."""
    rng = np.random.default_rng(zlib.crc32(f"{setting} {n} {k}".encode()))
    if setting not in TRUTHS:
        whole = draw_sweep(setting, 4_000_000, np.random.default_rng(1)).truth
        TRUTHS[setting] = (float(whole[:, 1].mean()), float(np.diff(whole).mean()))
    covered, alone, labels_only, with_judge = (np.zeros(2) for _ in range(4))
    for _ in range(sweeps):
        sweep = draw_sweep(setting, n, rng)
        for place, (made, plain, judge) in enumerate(figures(setting, sweep, k, rng.random(n))):
            low, high = made.interval()
            covered[place] += low <= TRUTHS[setting][place] <= high
            alone[place] += judge
            labels_only[place] += plain
            with_judge[place] += made.variance
    return {"covered": covered / sweeps, "alone": alone / sweeps, "worth": labels_only / with_judge}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=2000)
    arguments = parser.parse_args()
    columns = ["judge", "samples", "labels", "judge alone: mean", "difference", "corrected: mean", "difference",
               "worth: mean", "difference"]  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for setting in SETTINGS:
        for n, k in ((400, 40), (1000, 100)):
            found = simulate(setting, n, k, arguments.sweeps)
            cells = [f"{share:.1%}" for name in ("alone", "covered") for share in found[name]]
            worth = [f"{value:.1f}" for value in found["worth"]]
            print(f"| {' | '.join([setting.name, str(n), str(k), *cells, *worth])} |", flush=True)


if __name__ == "__main__":
    main()
