"""Two sweeps, or two systems, on the samples they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.errors import UserError
from seedbed.phases.context import SweepRun
from seedbed.report.compute import judged, paired
from seedbed.report.contest import Contest, contests
from seedbed.report.model import MARGIN, Comparison

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Side:
    """A sweep's run, and the one system of it that is meant; None for all."""

    run: SweepRun
    label: str | None = None

    @property
    def name(self) -> str:
        return self.run.plan.config.name if self.label is None else f"{self.run.plan.config.name}:{self.label}"


def compare(a: Side, b: Side, margin: float = MARGIN) -> list[Comparison]:
    """b against a, paired by sample in every metric that is a mean of samples. Holm's family is all tests of a metric.

    Contests are matched by suite, benchmark and model, or without the model where each side has only one of them: that
    is how a new model is held against an old one.
    """
    ours, theirs = _by_key(a), _by_key(b)
    made: list[Comparison] = []
    for base, own in _matched(ours, theirs):
        for first, second in _labels(a, b, base, own):
            aligned = _aligned(own, base.sample_ids, base.values[first])
            pairs = [(second, own.values[second], aligned)]
            made += paired(own, pairs, f"{a.name if a.label else f'{a.name}:{first}'}", margin)
    if not made:
        raise UserError(f"{a.name} and {b.name} share no system on the same benchmark; name them as SWEEP:SYSTEM.")
    return judged(made)


def _by_key(side: Side) -> dict[tuple[str, str, str], Contest]:
    found = {contest.key: contest for contest in contests(side.run.store, side.run.plan)}
    labels = {label for contest in found.values() for label in contest.values}
    if side.label is not None and side.label not in labels:
        raise UserError(f"{side.name}: no such system with results; known: {', '.join(sorted(labels)) or 'none'}.")
    return found


def _matched(
    ours: dict[tuple[str, str, str], Contest], theirs: dict[tuple[str, str, str], Contest]
) -> list[tuple[Contest, Contest]]:
    found: list[tuple[Contest, Contest]] = []
    for key, own in theirs.items():
        if key in ours:
            found.append((ours[key], own))
            continue
        like = [contest for other, contest in ours.items() if other[:2] == key[:2]]
        if len(like) == 1 and sum(other[:2] == key[:2] for other in theirs) == 1:
            found.append((like[0], own))
    return found


def _labels(a: Side, b: Side, base: Contest, own: Contest) -> Sequence[tuple[str, str]]:
    if a.label is None and b.label is None:
        return [(label, label) for label in own.values if label in base.values]
    return [
        (first, second)
        for first in base.values
        for second in own.values
        if first == (a.label or second) and second == (b.label or first)
    ]


def _aligned(contest: Contest, ids: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of another contest in the order of this one's samples; nan where it lacks one."""
    import numpy as np

    at = {sample: place for place, sample in enumerate(ids)}
    found = np.full((len(contest.sample_ids), values.shape[1]), np.nan)
    for place, sample in enumerate(contest.sample_ids):
        if sample in at:
            found[place] = values[at[sample]]
    return found
