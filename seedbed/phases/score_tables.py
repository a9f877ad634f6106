"""Reads the score tables of a sweep from its files, cell by cell: memory holds samples, not seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.errors import UserError
from seedbed.storage.paths import read_bytes
from seedbed.storage.store import Store, read_json, read_jsonl
from seedbed.suite import ScoreRow
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import GroupKey, Plan
from seedbed.sweep.registry import get_suite

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class CellScores:
    """scores.jsonl of a cell: a row a sample, a column a metric of the suite, nan where undefined."""

    sample_ids: Sequence[str]
    clusters: Sequence[str]
    values: NDArray[np.float64]
    failures: Sequence[tuple[str, str, str]]
    """sample id, status and reason of what was not scored."""


def score_tables(store: Store, plan: Plan, baseline: str | None = None) -> Iterator[ScoreTable]:
    """The tables of a sweep, one after the other, in the order of the plan."""
    found = _cell_metrics(store, plan)
    keys: dict[TableKey, list[Cell]] = {}
    for cell in plan.cells:
        keys.setdefault((cell.suite, cell.benchmark, cell.model), []).append(cell)
    _known_baseline(baseline, plan)
    for key, cells in keys.items():
        done = [cell for cell in cells if cell.id in found]
        if done:
            order = list(dict.fromkeys(cell.label for cell in cells))
            yield _table(store, plan, key, done, found, order, baseline or plan.experiment(cells[0]).baseline)


def group_metrics(store: Store, plan: Plan, group: GroupKey, cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """The metrics of a group by label, from its file: it holds those that pair systems too. Only of cells whose scores
    are current: what an earlier config or an earlier fresh start left there does not count."""
    path = store.group_dir(group) / "metrics.json"
    if not path.exists():
        return {}
    data = read_json(path)
    if data["generation"] < plan.generation:
        return {}
    current = {cell.label for cell in cells if data["scores"].get(cell.label) == cell.key("score")}
    return {label: metrics for label, metrics in data["metrics"].items() if label in current}


def _cell_metrics(store: Store, plan: Plan) -> dict[str, dict[str, Any]]:
    """Metrics and usage by cell id."""
    found: dict[str, dict[str, Any]] = {}
    for group, cells in plan.groups().items():
        metrics = group_metrics(store, plan, group, cells)
        for cell in cells:
            if cell.label in metrics:
                usage = read_json(store.cell_dir(cell) / "metrics.json")["usage"]
                found[cell.id] = {**metrics[cell.label], "usage": usage}
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


def table_score_rows(store: Store, table: ScoreTable) -> dict[tuple[int, str], list[ScoreRow]]:
    """All rows behind a table, by seed and label."""
    return {
        (cell.seed, label): [ScoreRow(**row) for row in read_jsonl(store.cell_dir(cell) / "scores.jsonl")]
        for label, cells in table.cells.items()
        for cell in cells
    }


_KEPT_FAILURES = 200
"""Failures a table shows one by one; all are counted."""


def _table(
    store: Store,
    plan: Plan,
    key: TableKey,
    cells: Sequence[Cell],
    found: Mapping[str, Any],
    order: Sequence[str],
    baseline: str | None,
) -> ScoreTable:
    import numpy as np

    suite = get_suite(key[0])
    declared = plan.metrics(key[0])
    names = [metric.name for metric in declared]
    places: dict[str, int] = {}
    cluster_of: dict[str, str] = {}
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
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
        failures += [(cell, *failure) for failure in scores.failures[: _KEPT_FAILURES - len(failures)]]
        tally.update((cell.label, status, _kind(reason)) for _, status, reason in scores.failures)
    ordered = {name: number for number, name in enumerate(sorted(set(cluster_of.values())))}
    labels = [label for label in order if label in sums]
    with np.errstate(invalid="ignore"):
        values = {
            label: _fit(sums[label], len(places)) / np.where(n := _fit(counts[label], len(places)), n, np.nan)
            for label in labels
        }
    return ScoreTable(
        key=key,
        baseline=baseline if baseline in labels else labels[0],
        declared=declared,
        reference=frozenset(suite.reference_systems),
        sample_ids=list(places),
        clusters=np.array([ordered[cluster_of[sample]] for sample in places], dtype=np.int64),
        values=values,
        seeds={label: {c.seed: found[c.id] for c in cells if c.label == label} for label in labels},
        cells={label: [c for c in cells if c.label == label] for label in labels},
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


def _kind(reason: str) -> str:
    return reason.partition(":")[0][:80] or "no reason given"


def _known_baseline(baseline: str | None, plan: Plan) -> None:
    known = sorted({cell.label for cell in plan.cells})
    if baseline is not None and baseline not in known:
        raise UserError(f"--baseline {baseline!r} is no system of this sweep; known: {', '.join(known)}.")
