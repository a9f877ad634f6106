"""The cells of a sweep as rows of a table."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.sweep.plan import Plan


def cell_table(plan: Plan, finished: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row a cell: what it is, and for those finished, as their markers say, their metrics and what they used."""
    rows: list[dict[str, Any]] = []
    for cell in plan.cells:
        row: dict[str, Any] = {
            "suite": cell.suite,
            "benchmark": cell.benchmark,
            "system": cell.label,
            "model": cell.model,
            "seed": cell.seed,
        }
        if cell.id in finished:
            data = finished[cell.id]["result"]
            metrics = data["metrics"]
            row |= {
                m.label: _rounded(metrics.get(m.name), m.digits) for m in plan.metrics(cell.suite) if m.name in metrics
            }
            row |= {"n": metrics.get("n"), "errors": metrics.get("n_errors")}
            row["tokens"] = sum(u["tokens_in"] + u["tokens_out"] for u in data["usage"].values())
        rows.append(row)
    return rows


def cost_records(folder: Path) -> list[dict[str, str]]:
    """costs.csv of a sweep's run as records."""
    with (folder / "costs.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _rounded(value: float | None, digits: int) -> float | str:
    return "-" if value is None else round(value, digits)
