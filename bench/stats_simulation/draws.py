"""Simulated sweeps: scores of a system and of its baseline on the same samples, with a known truth."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

SEED = 20261118
"""Of all that is drawn; every setting has a stream of its own."""
TIES = 0.4
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
    alike: float | None = None
    """How alike samples of a cluster are (correlation, 1: one answer for all). None: a little, within `room`."""

    @property
    def places(self) -> Ints:
        return np.repeat(np.arange(len(self.clusters)), self.clusters) if self.clusters else np.arange(self.n)


def batches(setting: Setting, sweeps: int, salt: int = 0) -> Iterator[tuple[Rng, int]]:
    """Generators with the number of sweeps to draw from each."""
    size = max(1, min(sweeps, _BATCH // (setting.n * setting.seeds)))
    for number, start in enumerate(range(0, sweeps, size)):
        yield stream(setting, number, salt), min(size, sweeps - start)


def stream(setting: object, *salt: int) -> Rng:
    return np.random.default_rng([SEED, zlib.crc32(repr(setting).encode()), *salt])


def scores(rng: Rng, kind: str, quality: Floats) -> Floats:
    """A score a sample with mean `quality`."""
    found = (rng.random(quality.shape) < quality).astype(np.float64)
    if kind == "0/1":
        return found
    between = rng.random(quality.shape) >= 0.6
    inside = np.clip(quality[between], 1e-6, 1 - 1e-6)
    found[between] = rng.beta(4 * inside, 4 * (1 - inside))
    return found


def sweeps_of(rng: Rng, setting: Setting, sweeps: int) -> tuple[Floats, Floats]:
    """Scores of a system and of its baseline, samples x seeds x sweeps."""
    if setting.alike is not None:
        return _in_clusters(rng, setting, setting.alike, sweeps)
    places, shape = setting.places, (setting.n, setting.seeds, sweeps)
    room = min(0.2 if setting.gain or setting.seed_sd else 0.3, setting.p, 1 - setting.p)
    number = int(places.max()) + 1
    shared = rng.uniform(-1, 1, (number, 1, sweeps))[places]
    ease = room * (0.7 * shared + 0.3 * rng.uniform(-1, 1, (setting.n, 1, sweeps)))
    quality = np.broadcast_to(setting.p + ease, shape)
    base = scores(rng, setting.kind, quality)
    shift = rng.normal(0, setting.seed_sd, (1, setting.seeds, sweeps)) if setting.seed_sd else 0.0
    tied = setting.kind == "f1"
    gain = (setting.gain + shift) / (1 - setting.ties if tied else 1.0)
    # What a cluster has in common differs between systems too.
    apart = 0.5 * room * rng.uniform(-1, 1, (number, 1, sweeps))[places]
    own = scores(rng, setting.kind, np.broadcast_to(np.clip(quality + gain + apart, 0, 1), shape))
    return (np.where(rng.random(shape) < setting.ties, base, own) if tied else own), base


def _in_clusters(rng: Rng, setting: Setting, alike: float, sweeps: int) -> tuple[Floats, Floats]:
    """Clusters with a rate of their own; the system has another one in half of them."""

    def rates() -> Floats:
        shape = (len(setting.clusters), 1, sweeps)
        if alike >= 1:
            return (rng.random(shape) < setting.p).astype(np.float64)
        rest = 1 / alike - 1
        return rng.beta(setting.p * rest, (1 - setting.p) * rest, shape)

    ours, other = rates(), rates()
    own = np.where(rng.random(ours.shape) < 0.5, ours, other)
    shape = (setting.n, setting.seeds, sweeps)
    made = [scores(rng, setting.kind, np.broadcast_to(q[setting.places], shape)) for q in (own, ours)]
    return made[0], made[1]
