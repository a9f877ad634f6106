"""What was imported: scores by sample and seed, a table a benchmark and model, in a file of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.errors import UserError
from seedbed.storage.store import read_json, write_json
from seedbed.suite import Metric

SUITE = "imported"
LABEL = "system"
"""What the systems of other tools are called in tables; the import's own name tells them apart."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class ImportedRow:
    sample_id: str
    seed: int
    """Which repeat of the sample it is: the epoch, or the number of the file."""
    scores: Mapping[str, float | None]
    error: str | None = None
    """Why the sample failed; it has no scores then."""


@dataclass(frozen=True, slots=True)
class ImportedTable:
    benchmark: str
    model: str
    metrics: Sequence[Metric]
    rows: Sequence[ImportedRow]
    left_out: Sequence[str] = ()
    """Metrics of the file that are no value a sample."""

    @property
    def key(self) -> TableKey:
        return SUITE, self.benchmark, self.model


@dataclass(frozen=True)
class Imported:
    """The runs of another tool under a name, as `seedbed compare` takes them."""

    name: str
    tool: str
    tables: Sequence[ImportedTable] = field(repr=False)

    def metrics(self) -> tuple[Metric, ...]:
        return tuple({metric.name: metric for table in self.tables for metric in table.metrics}.values())

    def score_tables(self) -> Iterator[ScoreTable]:
        for table in self.tables:
            yield _score_table(table)

    def write(self, root: Path) -> Path:
        path = import_path(root, self.name)
        write_json(path, {"version": _VERSION, "tool": self.tool, "tables": [asdict(table) for table in self.tables]})
        return path


def import_path(root: Path, name: str) -> Path:
    return root / "imports" / f"{name}.json"


def read_import(root: Path, name: str) -> Imported:
    path = import_path(root, name)
    data = read_json(path)
    if data["version"] != _VERSION:
        raise UserError(f"{path}: was written by another version of Seedbed; import the files again.")
    return Imported(name, data["tool"], [_table(entry) for entry in data["tables"]])


def _table(entry: Mapping[str, Any]) -> ImportedTable:
    metrics = [_metric(dict(metric)) for metric in entry["metrics"]]
    rows = [ImportedRow(**row) for row in entry["rows"]]
    return ImportedTable(entry["benchmark"], entry["model"], metrics, rows, entry["left_out"])


def _metric(entry: dict[str, Any]) -> Metric:
    ends = entry.pop("range")
    return Metric(**entry, range=None if ends is None else (ends[0], ends[1]))


def _score_table(table: ImportedTable) -> ScoreTable:
    """Each sample the mean of its repeats, which are one sample and not several."""
    import numpy as np

    places = {sample: place for place, sample in enumerate(dict.fromkeys(row.sample_id for row in table.rows))}
    shape = len(places), len(table.metrics)
    sums, counts, lost = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for row in table.rows:
        own = np.array([row.scores.get(metric.name) for metric in table.metrics], dtype=np.float64)
        at = places[row.sample_id]
        sums[at] += np.nan_to_num(own)
        counts[at] += ~np.isnan(own)
        lost[at] += row.error is not None
    missing = lost / np.maximum(lost + counts, 1)
    return ScoreTable(
        key=table.key,
        baseline=LABEL,
        declared=table.metrics,
        reference=frozenset(),
        sample_ids=list(places),
        clusters=np.arange(len(places)),
        values={LABEL: sums / np.where(counts, counts, np.nan)},
        seeds={LABEL: {seed: {} for seed in sorted({row.seed for row in table.rows})}},
        cells={LABEL: []},
        failures=[],
        failure_counts=Counter((LABEL, "error", (row.error or "")[:80]) for row in table.rows if row.error is not None),
        missing={LABEL: missing} if lost.any() else {},
    )
