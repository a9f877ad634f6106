"""The contests of a sweep, and what their cells scored: a system against the baseline of its table, over all seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.phases.score_tables import read_scores
from seedbed.storage.store import Store
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan
from seedbed.sweep.registry import get_suite

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """A system and its baseline on one benchmark with one model, over all seeds."""

    suite: str
    benchmark: str
    model: str
    label: str
    baseline: str
    own: Sequence[Cell]
    base: Sequence[Cell]
    reference: bool
    """Whether every table of the suite has the system: such tests are a family of their own."""

    @property
    def names(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in ("benchmark", "model", "label", "baseline")}

    @property
    def cells(self) -> Sequence[Cell]:
        return (*self.own, *self.base)

    @property
    def title(self) -> str:
        return f"{self.benchmark} · {self.model} · {self.label} against {self.baseline}"


def pairs_of(plan: Plan) -> Iterator[Pair]:
    """Every contest of a sweep, as its tables will have them."""
    tables: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in plan.cells:
        tables.setdefault((cell.suite, cell.benchmark, cell.model), []).append(cell)
    for key, cells in tables.items():
        labels = list(dict.fromkeys(cell.label for cell in cells))
        wanted = plan.experiment(cells[0]).baseline
        baseline = wanted if wanted in labels else labels[0]
        base = [cell for cell in cells if cell.label == baseline]
        for label in labels:
            if label != baseline:
                own = [cell for cell in cells if cell.label == label]
                yield Pair(*key, label, baseline, own, base, label in get_suite(key[0]).reference_systems)


def made_by_seed(plan: Plan, pair: Pair) -> bool:
    """Whether every seed makes another system of a side."""
    return any(cell.optimised or plan.resolve(cell).seed_changes_system for cell in pair.cells)


def read_pair(
    store: Store, pair: Pair, metric: str, sample_ids: Sequence[str] | None = None
) -> tuple[Floats, Floats, list[str]]:
    """Scores of both sides as samples x seeds, nan where one is missing, and the samples' clusters. Without ids, of all
    samples that any cell has."""
    import numpy as np

    scores = {cell.id: read_scores(store.cell_dir(cell) / "scores.jsonl", [metric]) for cell in pair.cells}
    chosen = sample_ids if sample_ids is not None else list(
        dict.fromkeys(sample for own in scores.values() for sample in own.sample_ids)
    )  # fmt: skip
    places = {sample: place for place, sample in enumerate(chosen)}
    clusters = list(chosen)
    sides: list[Floats] = []
    for cells in (pair.own, pair.base):
        values = np.full((len(chosen), len(cells)), np.nan)
        for column, cell in enumerate(cells):
            own = scores[cell.id]
            for row, (sample, cluster) in enumerate(zip(own.sample_ids, own.clusters, strict=True)):
                if sample in places:
                    values[places[sample], column] = own.values[row, 0]
                    clusters[places[sample]] = cluster
        sides.append(values)
    return sides[0], sides[1], clusters
