"""The default way to part one file of cases into train, val and test."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.suite import Case

TEST_SHARE = 0.4
VAL_SHARE = 0.4
SAMPLE_SEED = 1


@dataclass(frozen=True, slots=True)
class Sizes:
    """At most so many cases a split."""

    train: int = 150
    val: int = 300
    test: int = 300


@dataclass(frozen=True, slots=True)
class Splits:
    train: list[Case]
    val: list[Case]
    test: list[Case]


def split(cases: Sequence[Case], sizes: Sizes | None = None) -> Splits:
    """The first 40% are test, the next 40% val, the rest train; each is then sampled down. Cases of one cluster stay
    together: the cut falls between clusters, so that nothing optimised on is tested on."""
    sizes = sizes or Sizes()
    clusters: dict[str, list[Case]] = {}
    for case in cases:
        clusters.setdefault(case.cluster or case.sample_id, []).append(case)
    groups = list(clusters.values())
    first, second = int(len(groups) * TEST_SHARE), int(len(groups) * (TEST_SHARE + VAL_SHARE))
    return Splits(
        train=sample(_flat(groups[second:]), sizes.train),
        val=sample(_flat(groups[first:second]), sizes.val),
        test=sample(_flat(groups[:first]), sizes.test),
    )


def sample(cases: Sequence[Case], most: int) -> list[Case]:
    """At most so many of the cases, drawn with a fixed seed; all of them, in order, where they are no more."""
    if len(cases) <= most:
        return list(cases)
    return random.Random(SAMPLE_SEED).sample(list(cases), most)  # noqa: S311 - a reproducible draw, no secret


def _flat(groups: Sequence[Sequence[Case]]) -> list[Case]:
    return [case for group in groups for case in group]
