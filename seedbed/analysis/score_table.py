"""The scores of all systems that answered the same questions with the same model, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from seedbed.suite import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TableKey = tuple[str, str, str]
"""Suite, benchmark, model."""


class ScoredCell(Protocol):
    """What an analysis must know of a cell: its names."""

    @property
    def id(self) -> str: ...
    @property
    def suite(self) -> str: ...
    @property
    def benchmark(self) -> str: ...
    @property
    def system(self) -> str: ...
    @property
    def optimizer(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def label(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def answers(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class ScoreTable:
    """Systems that answered the same questions with the same model."""

    key: TableKey
    baseline: str
    declared: Sequence[Metric]
    """What each metric is; nothing about one is read off its values."""
    reference: frozenset[str]
    """Labels of systems that are in every table of the suite: their tests are a family of their own."""
    sample_ids: Sequence[str]
    clusters: NDArray[np.int64]
    """The cluster of each sample, numbered."""
    values: Mapping[str, NDArray[np.float64]]
    """By label: samples x metrics, each sample the mean of its seeds."""
    seeds: Mapping[str, Mapping[int, Mapping[str, Any]]]
    """By label and seed: the cell's metrics and usage."""
    cells: Mapping[str, Sequence[ScoredCell]]
    failures: Sequence[tuple[ScoredCell, str, str, str]] = field(repr=False)
    """Cell, sample id, status and reason of what was not answered and scored in full; the first of many."""
    failure_counts: Mapping[tuple[str, str, str], int] = field(repr=False)
    """By label, status and kind of reason; complete where `failures` is cut short."""
    first_cut: tuple[ScoredCell, str] | None = None
    """The first sample with an answer that was cut off, and its cell."""
    missing: Mapping[str, NDArray[np.float64]] = field(default_factory=dict[str, Any], repr=False)
    """By label: samples x metrics, the share of seeds whose score is missing because something failed. What is
    undefined by its nature is not missing. No entry where nothing is."""
    by_seed: Mapping[str, Mapping[int, NDArray[np.float64]]] = field(default_factory=dict[str, Any], repr=False)
    """By label and seed: samples x metrics, of systems that every seed makes anew and of what they are held against."""
    made_by_seed: frozenset[str] = frozenset()
    """Labels of systems that every seed makes anew, as an optimizer does."""

    @property
    def metrics(self) -> list[str]:
        return [metric.name for metric in self.declared]

    @property
    def means(self) -> frozenset[str]:
        """Metrics that are the mean of what their samples scored; the others are made from all rows together."""
        return frozenset(metric.name for metric in self.declared if metric.kind != "pooled")

    def has_samples(self, name: str) -> bool:
        """Whether any sample has a value of the metric."""
        import numpy as np

        if name not in self.metrics:
            return False
        column = self.metrics.index(name)
        return any(not np.isnan(own[:, column]).all() for own in self.values.values())

    def metric(self, name: str) -> Metric:
        return next(metric for metric in self.declared if metric.name == name)
