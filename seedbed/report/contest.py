"""The scores of all systems of one benchmark and model, read cell by cell: memory holds samples, not seeds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.cell import Cell
from seedbed.errors import UserError
from seedbed.paths import read_bytes
from seedbed.plan import Plan
from seedbed.registry import get_suite
from seedbed.stats import mean
from seedbed.store import Store, read_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ContestKey = tuple[str, str, str]
"""Suite, benchmark, model."""
_SAME = 1e-9


@dataclass(frozen=True)
class CellScores:
    """scores.jsonl of a cell: a row a sample, a column a metric of the suite, nan where undefined."""

    sample_ids: Sequence[str]
    clusters: Sequence[str]
    values: NDArray[np.float64]
    failures: Sequence[tuple[str, str, str]]
    """sample id, status and reason of what was not scored."""


@dataclass(frozen=True)
class Contest:
    """Systems that answered the same questions with the same model."""

    key: ContestKey
    baseline: str
    metrics: Sequence[str]
    sample_ids: Sequence[str]
    clusters: NDArray[np.int64]
    """The cluster of each sample, numbered."""
    values: Mapping[str, NDArray[np.float64]]
    """By label: samples x metrics, each sample the mean of its seeds."""
    seeds: Mapping[str, Mapping[int, Mapping[str, Any]]]
    """By label and seed: the cell's metrics and usage."""
    cells: Mapping[str, Sequence[Cell]]
    means: frozenset[str]
    """Metrics that are the mean of what their samples scored; the others are made from all rows together."""
    failures: Sequence[tuple[Cell, str, str, str]] = field(repr=False)
    failure_counts: Mapping[tuple[str, str, str], int] = field(repr=False)
    """By label, status and kind of reason; complete where `failures` is cut short."""


def contests(store: Store, plan: Plan, baseline: str | None = None) -> Iterator[Contest]:
    """The contests of a sweep, one after the other, in the order of the plan."""
    found = group_metrics(store, plan)
    keys: dict[ContestKey, list[Cell]] = {}
    for cell in plan.cells:
        keys.setdefault((cell.suite, cell.benchmark, cell.model), []).append(cell)
    _known_baseline(baseline, plan)
    for key, cells in keys.items():
        done = [cell for cell in cells if cell.id in found]
        if done:
            order = list(dict.fromkeys(cell.label for cell in cells))
            yield _contest(store, key, done, found, order, baseline or plan.experiment(cells[0]).baseline)


def group_metrics(store: Store, plan: Plan) -> dict[str, dict[str, Any]]:
    """Metrics and usage by cell id, from the groups' files: they hold the paired metrics too."""
    found: dict[str, dict[str, Any]] = {}
    for group, cells in plan.groups().items():
        path = store.group_dir(group) / "metrics.json"
        if not path.exists():
            continue
        data = read_json(path)
        if data["since"] < store.since:
            # Of an earlier run: since the sweep was started afresh no cell of the group has finished.
            continue
        for cell in cells:
            if data["cells"].get(cell.label) == cell.id:
                usage = read_json(store.cell_dir(cell) / "metrics.json")["usage"]
                found[cell.id] = {**data["metrics"][cell.label], "usage": usage}
    return found


def read_scores(path: Path, metrics: Sequence[str]) -> CellScores:
    """The scores of a cell's samples in some metrics."""
    import numpy as np
    import orjson

    rows = [orjson.loads(line) for line in read_bytes(path).splitlines()]
    scores = [row["scores"] for row in rows]
    # None becomes nan.
    values = np.array([[own.get(name) for name in metrics] for own in scores], dtype=np.float64)
    return CellScores(
        [row["sample_id"] for row in rows],
        [row["cluster"] or row["sample_id"] for row in rows],
        values.reshape(len(rows), len(metrics)),
        [(row["sample_id"], row["status"], row["reason"] or "") for row in rows if row["status"] != "ok"],
    )


_KEPT_FAILURES = 200
"""Failures a contest shows one by one; all are counted."""


def _contest(
    store: Store,
    key: ContestKey,
    cells: Sequence[Cell],
    found: Mapping[str, Any],
    order: Sequence[str],
    baseline: str | None,
) -> Contest:
    import numpy as np

    names = [metric.name for metric in get_suite(key[0]).metrics]
    places: dict[str, int] = {}
    cluster_of: dict[str, str] = {}
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
    is_mean = dict.fromkeys(names, True)
    failures: list[tuple[Cell, str, str, str]] = []
    tally: Counter[tuple[str, str, str]] = Counter()
    before: Sequence[str] = ()
    at = np.zeros(0, dtype=np.int64)
    for cell in cells:
        scores = read_scores(store.cell_dir(cell) / "scores.jsonl", names)
        # Most often all cells have the same samples in the same order.
        if scores.sample_ids != before:
            before = scores.sample_ids
            for sample, cluster in zip(scores.sample_ids, scores.clusters, strict=True):
                places.setdefault(sample, len(places))
                cluster_of.setdefault(sample, cluster)
            at = np.array([places[sample] for sample in before], dtype=np.int64)
        defined = ~np.isnan(scores.values)
        sums[cell.label] = _add(sums.get(cell.label), at, np.nan_to_num(scores.values), len(places))
        counts[cell.label] = _add(counts.get(cell.label), at, defined.astype(np.float64), len(places))
        for column, name in enumerate(names):
            own = scores.values[defined[:, column], column].tolist()
            is_mean[name] = is_mean[name] and _same(found[cell.id].get(name), mean(own))
        failures += [(cell, *failure) for failure in scores.failures[: _KEPT_FAILURES - len(failures)]]
        tally.update((cell.label, status, _kind(reason)) for _, status, reason in scores.failures)
    ordered = {name: number for number, name in enumerate(sorted(set(cluster_of.values())))}
    labels = [label for label in order if label in sums]
    with np.errstate(invalid="ignore"):
        values = {
            label: _fit(sums[label], len(places)) / np.where(n := _fit(counts[label], len(places)), n, np.nan)
            for label in labels
        }
    return Contest(
        key=key,
        baseline=baseline if baseline in labels else labels[0],
        metrics=names,
        sample_ids=list(places),
        clusters=np.array([ordered[cluster_of[sample]] for sample in places], dtype=np.int64),
        values=values,
        seeds={label: {c.seed: found[c.id] for c in cells if c.label == label} for label in labels},
        cells={label: [c for c in cells if c.label == label] for label in labels},
        means=frozenset(name for name in names if is_mean[name]),
        failures=failures,
        failure_counts=tally,
    )


def _add(
    total: NDArray[np.float64] | None, at: NDArray[np.int64], values: NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    import numpy as np

    grown = _fit(total if total is not None else np.zeros((0, values.shape[1])), length)
    grown[at] += values
    return grown


def _fit(array: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    import numpy as np

    missing = length - array.shape[0]
    return np.vstack([array, np.zeros((missing, array.shape[1]))]) if missing else array


def _same(published: Any, computed: float | None) -> bool:
    if published is None or computed is None:
        return published is None and computed is None
    return math.isclose(published, computed, rel_tol=_SAME, abs_tol=_SAME)


def _kind(reason: str) -> str:
    return reason.partition(":")[0][:80] or "no reason given"


def _known_baseline(baseline: str | None, plan: Plan) -> None:
    known = sorted({cell.label for cell in plan.cells})
    if baseline is not None and baseline not in known:
        raise UserError(f"--baseline {baseline!r} is no system of this sweep; known: {', '.join(known)}.")
