"""All samples of a sweep as one table, written cell by cell."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from seedbed.errors import UserError
from seedbed.storage.objects import staged
from seedbed.storage.store import Store, read_jsonl
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan

Format = Literal["csv", "parquet"]
_NAMES = ("suite", "benchmark", "system", "optimizer", "model", "seed")
_BEFORE = (*_NAMES, "cell_id", "sample_id", "cluster", "status", "reason")
_AFTER = ("output", "details")


def export(store: Store, plan: Plan, target: Path, form: Format) -> int:
    """Write a row a sample of every scored cell: names, status, a column a score (`score_NAME`), answer and details as
    JSON. Returns the number of rows."""
    cells = [cell for cell in plan.cells if (store.cell_dir(cell) / "scores.jsonl").exists()]
    if not cells:
        raise UserError(f"{plan.config.name}: no cell has been scored yet; there is nothing to export.")
    names = dict.fromkeys(name for cell in cells for row in _scores(store, cell) for name in row["scores"])
    columns = [*_BEFORE, *(f"score_{name}" for name in names), *_AFTER]
    write = _write_csv if form == "csv" else _write_parquet
    # Elsewhere until it is whole, like every file of a sweep.
    with staged(target) as partial:
        return write(partial, columns, (list(_rows(store, cell, list(names))) for cell in cells))


def _scores(store: Store, cell: Cell) -> Iterator[dict[str, Any]]:
    return read_jsonl(store.cell_dir(cell) / "scores.jsonl")


def _rows(store: Store, cell: Cell, names: list[str]) -> Iterator[dict[str, Any]]:
    predictions = store.cell_dir(cell) / "predictions.jsonl"
    outputs = {row["sample_id"]: row.get("output") for row in read_jsonl(predictions)} if predictions.exists() else {}
    for row in _scores(store, cell):
        yield {
            **{name: getattr(cell, name) for name in _NAMES},
            "cell_id": cell.id,
            **{name: row[name] for name in ("sample_id", "cluster", "status", "reason")},
            **{f"score_{name}": row["scores"].get(name) for name in names},
            "output": _json(outputs.get(row["sample_id"])),
            "details": _json(row["details"]),
        }


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _write_csv(path: Path, columns: list[str], batches: Iterator[list[dict[str, Any]]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        for batch in batches:
            writer.writerows(batch)
            count += len(batch)
    return count


def _write_parquet(path: Path, columns: list[str], batches: Iterator[list[dict[str, Any]]]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"seed": pa.int64()}
    schema = pa.schema(
        [(name, kinds.get(name, pa.float64() if name.startswith("score_") else pa.string())) for name in columns]
    )
    count = 0
    with pq.ParquetWriter(path, schema) as writer:
        for batch in batches:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count
