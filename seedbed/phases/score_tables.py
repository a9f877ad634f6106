"""Reads the score tables of a sweep from its files, cell by cell: memory holds samples, not seeds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.errors import UserError
from seedbed.phases.scorers import ERRORS
from seedbed.storage.paths import read_bytes
from seedbed.storage.store import Store, read_json, read_jsonl
from seedbed.suite import ScoreRow
from seedbed.suites.kit.outcomes import TRUNCATED, UNREADABLE, told_reason
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
    missing: NDArray[np.bool_]
    """Where a score is missing because something failed, not because it is undefined."""
    flaws: Sequence[tuple[str, str, str]]
    """sample id, what is wrong with it, and how, of all that was not both answered and scored in full."""
    cut: Sequence[str]
    """Ids of samples with an answer that was cut off."""


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
    values = values.reshape(len(rows), len(metrics))
    # A row that is ok and has a reason lacks scores that failed, a judge's most often.
    failed = np.array([row["status"] == "error" or (row["status"] == "ok" and bool(row["reason"])) for row in rows])
    return CellScores(
        [row["sample_id"] for row in rows],
        [row["cluster"] or row["sample_id"] for row in rows],
        values,
        np.isnan(values) & failed.astype(bool)[:, None],
        [(row["sample_id"], *flaw) for row in rows if (flaw := _flaw(row)) is not None],
        [row["sample_id"] for row in rows if TRUNCATED in row["details"]],
    )


def _flaw(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """What a reader should look at in a sample, the worst first; None where all is well."""
    details: Mapping[str, Any] = row["details"]
    if row["status"] != "ok" or row["reason"]:
        return ("error" if row["status"] == "ok" else row["status"]), told_reason(row)
    if UNREADABLE in details:
        cut = " (cut off at max_tokens)" if TRUNCATED in details else ""
        return UNREADABLE, f"{details[UNREADABLE]}{cut}"
    if ERRORS in details:
        return "scorer failed", "; ".join(f"{name}: {e['kind']}: {e['message']}" for name, e in details[ERRORS].items())
    if TRUNCATED in details:
        return TRUNCATED, f"answers cut off at max_tokens: {details[TRUNCATED]}"
    return None


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
    totals: dict[str, _Total] = {}
    failures: list[tuple[Cell, str, str, str]] = []
    tally: Counter[tuple[str, str, str]] = Counter()
    first_cut: tuple[Cell, str] | None = None
    remade = _made_by_seed(plan, cells)
    labels = [label for label in order if label in {cell.label for cell in cells}]
    held_against = baseline if baseline in labels else labels[0]
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
        by_seed = cell.label in remade or (bool(remade) and cell.label == held_against)
        total = totals.setdefault(cell.label, _Total(len(names)))
        total.add(at, scores, len(places), cell.seed if by_seed else None)
        failures += [(cell, *flaw) for flaw in scores.flaws[: _KEPT_FAILURES - len(failures)]]
        tally.update((cell.label, status, _kind(reason)) for _, status, reason in scores.flaws)
        first_cut = first_cut or ((cell, scores.cut[0]) if scores.cut else None)
    ordered = {name: number for number, name in enumerate(sorted(set(cluster_of.values())))}
    n = len(places)
    return ScoreTable(
        key=key,
        baseline=held_against,
        declared=declared,
        reference=frozenset(suite.reference_systems),
        sample_ids=list(places),
        clusters=np.array([ordered[cluster_of[sample]] for sample in places], dtype=np.int64),
        values={label: totals[label].means(n) for label in labels},
        seeds={label: {c.seed: found[c.id] for c in cells if c.label == label} for label in labels},
        cells={label: [c for c in cells if c.label == label] for label in labels},
        failures=failures,
        failure_counts=tally,
        first_cut=first_cut,
        missing={label: share for label in labels if (share := totals[label].missing(n)).any()},
        by_seed={label: totals[label].by_seed(n) for label in labels if totals[label].seeds},
        made_by_seed=remade,
    )


def _made_by_seed(plan: Plan, cells: Sequence[Cell]) -> frozenset[str]:
    """Labels of systems that every seed makes anew: those with an optimizer, and those that declare it."""
    return frozenset(cell.label for cell in cells if cell.optimised or plan.resolve(cell).seed_changes_system)


class _Total:
    """The scores of a system, added up over its seeds."""

    def __init__(self, metrics: int) -> None:
        import numpy as np

        empty = np.zeros((0, metrics))
        self._sums, self._counts, self._missing = empty, empty, empty
        self.seeds: dict[int, NDArray[np.float64]] = {}

    def add(self, at: NDArray[np.int64], scores: CellScores, length: int, keep_as: int | None) -> None:
        """Another seed, whose rows stand at these places; kept by itself too where it has a number."""
        import numpy as np

        self._sums = _add(self._sums, at, np.nan_to_num(scores.values), length)
        self._counts = _add(self._counts, at, (~np.isnan(scores.values)).astype(np.float64), length)
        self._missing = _add(self._missing, at, scores.missing.astype(np.float64), length)
        if keep_as is not None:
            own = np.full((length, scores.values.shape[1]), np.nan)
            own[at] = scores.values
            self.seeds[keep_as] = own

    def means(self, length: int) -> NDArray[np.float64]:
        import numpy as np

        counts = _fit(self._counts, length)
        return _fit(self._sums, length) / np.where(counts, counts, np.nan)

    def missing(self, length: int) -> NDArray[np.float64]:
        """The share of seeds without a score that should have one."""
        import numpy as np

        missing = _fit(self._missing, length)
        return missing / np.maximum(missing + _fit(self._counts, length), 1)

    def by_seed(self, length: int) -> dict[int, NDArray[np.float64]]:
        return {seed: _fit(values, length, math.nan) for seed, values in self.seeds.items()}


def _add(
    total: NDArray[np.float64], at: NDArray[np.int64], values: NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    grown = _fit(total, length)
    grown[at] += values
    return grown


def _fit(array: NDArray[np.float64], length: int, rest: float = 0.0) -> NDArray[np.float64]:
    import numpy as np

    missing = length - array.shape[0]
    return np.vstack([array, np.full((missing, array.shape[1]), rest)]) if missing else array


def _kind(reason: str) -> str:
    return reason.partition(":")[0][:80] or "no reason given"


def _known_baseline(baseline: str | None, plan: Plan) -> None:
    known = sorted({cell.label for cell in plan.cells})
    if baseline is not None and baseline not in known:
        raise UserError(f"--baseline {baseline!r} is no system of this sweep; known: {', '.join(known)}.")
