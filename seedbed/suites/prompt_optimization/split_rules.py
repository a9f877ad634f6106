"""How each benchmark's source parts its rows into train, val and test. Seeds and shares are the sources' own: the same
file gives the same splits."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seedbed.suite import Case
from seedbed.suites.kit.splits import Sizes, Splits, sample, split

Rows = Sequence[Case | None]
"""The cases of a file in its order; None holds the place of a row that was left out."""

_SHUFFLE_SEED = 0
_THIRD = 0.33
_PUPA = Sizes(train=111, val=111, test=221)
_IFBENCH_VAL, _IFBENCH_ROWS = 300, 600


@dataclass(frozen=True, slots=True)
class SplitRule:
    """What is done with one file of cases, and with a train file that comes without one for val."""

    whole: Callable[[Rows], Splits]
    train: Callable[[Rows], Splits] | None = None
    """The test split of its result is empty."""
    train_rows: int | None = None
    """So many rows of a train file are read and no more."""


def sampled(splits: Splits, sizes: Sizes) -> Splits:
    """Each split drawn down to its size, with a fixed seed."""
    return Splits(sample(splits.train, sizes.train), sample(splits.val, sizes.val), sample(splits.test, sizes.test))


def _shares(rows: Rows) -> Splits:
    """The first 40% test, the next 40% val, the rest train."""
    return split(_present(rows), Sizes(len(rows), len(rows), len(rows)))


def _shuffled_shares(rows: Rows) -> Splits:
    return _shares(_shuffled(rows))


def _shuffled_thirds(rows: Rows) -> Splits:
    """Files of several tasks are mixed first; the first third is train, the second val, what is left test."""
    cases = _shuffled(rows)
    first, second = int(len(cases) * _THIRD), int(len(cases) * 2 * _THIRD)
    return Splits(cases[:first], cases[first:second], cases[second:])


def _positions(rows: Rows) -> Splits:
    """PUPA's first 111 rows train, the next 111 val, the next 221 test. A row that was left out leaves a hole, so that
    all others stay where the source has them. A shorter file is parted in the same shares."""
    total = _PUPA.train + _PUPA.val + _PUPA.test
    scale = min(1.0, len(rows) / total)
    first, second = round(_PUPA.train * scale), round((_PUPA.train + _PUPA.val) * scale)
    last = round(total * scale)
    return Splits(_present(rows[:first]), _present(rows[first:second]), _present(rows[second:last]))


def _val_then_train(rows: Rows) -> Splits:
    """IFBench's train file: the first 300 rows are val, the next 300 train. A shorter file: two thirds val."""
    cut = _IFBENCH_VAL if len(rows) >= _IFBENCH_VAL * 3 // 2 else len(rows) * 2 // 3
    return Splits(_present(rows[cut:]), _present(rows[:cut]), [])


def _shuffled_halves(rows: Rows) -> Splits:
    """AIME's earlier years: mixed, one half train, the other val."""
    cases = _shuffled(rows)
    half = len(cases) // 2
    return Splits(cases[:half], cases[half:], [])


def _present(rows: Rows) -> list[Case]:
    return [row for row in rows if row is not None]


def _shuffled(rows: Rows) -> list[Case]:
    cases = _present(rows)
    random.Random(_SHUFFLE_SEED).shuffle(cases)  # noqa: S311 - a reproducible order, no secret
    return cases


HOTPOT = SplitRule(_shares)
HOVER = SplitRule(_shuffled_shares)
PUPA = SplitRule(_positions)
IFBENCH = SplitRule(_shares, _val_then_train, _IFBENCH_ROWS)
LIVEBENCH = SplitRule(_shuffled_thirds)
AIME = SplitRule(_shares, _shuffled_halves)
