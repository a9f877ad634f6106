"""Cases in a random order of whole clusters, and how many of them each look has: the same for all systems and seeds."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from seedbed.storage.yamlfile import FieldPath, YamlFile
from seedbed.suite import Benchmark, Case
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import DecideConfig, SweepConfig
from seedbed.sweep.registry import nearest
from seedbed.sweep.resolved import ResolvedCell

_SALT = "seedbed-order-1"
"""A new recipe needs a new one, and `IN_LOOKS` of seedbed/sweep/cell.py with it."""


@dataclass(frozen=True)
class Looks:
    """The order of a benchmark's test cases and the places where it is looked."""

    sample_ids: tuple[str, ...]
    """In the order in which they are asked."""
    ends: tuple[int, ...]
    """How many have been asked at each look; the last has all."""

    @property
    def number(self) -> int:
        return len(self.ends)

    @property
    def planned(self) -> int:
        return len(self.sample_ids)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {sample: place for place, sample in enumerate(self.sample_ids)}

    def first(self, cases: Sequence[Case], asked: int) -> list[Case]:
        """Of the cases, in their own order, those among the first that are asked."""
        return [case for case in cases if self._places[case.sample_id] < asked]


def looks_of(benchmark: Benchmark, number: int) -> Looks:
    """Clusters by the hash of their name: an order that nobody chose and that no version of a library changes."""
    clusters: dict[str, list[str]] = {}
    for case in benchmark.test:
        clusters.setdefault(case.cluster or case.sample_id, []).append(case.sample_id)
    order = sorted(clusters, key=lambda name: (hashlib.sha256(f"{_SALT}\n{name}".encode()).digest(), name))
    total, sizes = len(benchmark.test), [0]
    for name in order:
        sizes.append(sizes[-1] + len(clusters[name]))
    ends = [min(size for size in sizes if size >= math.ceil(total * k / number)) for k in range(1, number + 1)]
    return Looks(tuple(sample for name in order for sample in clusters[name]), tuple(ends))


def decisive_metric(decide: DecideConfig, resolved: ResolvedCell) -> str:
    """The name of the metric that decides."""
    return decide.metric or resolved.metrics[0].name


def check_decide(
    config: SweepConfig, cells: Sequence[Cell], resolve: Callable[[Cell], ResolvedCell], source: YamlFile
) -> None:
    """Refuse to decide by what no sample has, or what no look could tell."""
    tables: dict[tuple[str, str, str], int] = {}
    designs: dict[str, DecideConfig] = {}
    for cell in cells:
        at: FieldPath = ("experiments", cell.experiment, "decide")
        decide = config.experiments[cell.experiment].decide
        first = tables.setdefault(cell.group[:3], cell.experiment)
        if first != cell.experiment and (decide or config.experiments[first].decide):
            what = f"{cell.benchmark!r} with {cell.model!r} is in experiment {first + 1} too, where its baseline is; "
            raise source.error(("experiments", cell.experiment), f"{what}put all its systems into one experiment.")
        if decide is None:
            continue
        if designs.setdefault(cell.suite, decide).looks != decide.looks:
            raise source.error(
                (*at, "looks"), "is another number than in an earlier experiment of the suite; take one."
            )
        _check_metric(decide, resolve(cell), source, at)
        experiment = config.experiments[cell.experiment]
        if len(experiment.systems) * len(experiment.optimizers) < 2:
            raise source.error(at, "there is one system only, and nothing to decide; name a second, or remove decide.")
        if (cell.optimised or resolve(cell).seed_changes_system) and len(config.seeds) < 2:
            what = f"one seed of {cell.label!r} says nothing of the next; give two seeds or more, or remove decide."
            raise source.error(at, what)


def _check_metric(decide: DecideConfig, resolved: ResolvedCell, source: YamlFile, at: FieldPath) -> None:
    name = decisive_metric(decide, resolved)
    known = {metric.name: metric for metric in resolved.metrics}
    if name not in known:
        raise source.error((*at, "metric"), f"unknown metric {name!r}; {nearest(name, known)}")
    metric = known[name]
    if metric.kind == "pooled" or name in {figure.metric.name for figure in resolved.passes}:
        raise source.error((*at, "metric"), f"{name!r} is a figure of the whole cell; take one that samples have.")
    if metric.higher_is_better is None:
        raise source.error((*at, "metric"), f"{name!r} has no better end, so nothing can be decided by it.")
    low, high = metric.range or (0.0, math.inf)
    if decide.difference > high - low:
        what = f"{name!r} runs from {low:g} to {high:g}, so no difference is above {high - low:g}; give a smaller one."
        raise source.error((*at, "difference"), what)
