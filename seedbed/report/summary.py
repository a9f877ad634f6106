"""The summary of a sweep over its seeds: one table model, and its writers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seedbed.registry import get_suite
from seedbed.stats import OverSeeds
from seedbed.store import write_json, write_text

SIMULATED_NOTE = "Simulated: made with the offline model. Figures show how Seedbed works, not how a model does."


@dataclass(frozen=True, slots=True)
class Row:
    """One benchmark, system, optimizer and model, over all its seeds."""

    suite: str
    benchmark: str
    system: str
    optimizer: str
    model: str
    metrics: Mapping[str, OverSeeds]
    n_seeds: int
    n_seeds_planned: int
    n: int
    n_errors: int
    n_skipped: int
    tokens_in: int
    tokens_out: int
    list_usd: float | None
    spent_usd: float | None

    @property
    def name(self) -> tuple[str, str, str, str]:
        return self.benchmark, self.system, self.optimizer, self.model


@dataclass(frozen=True, slots=True)
class Summary:
    sweep: str
    status: str
    """completed | partial | budget_reached | interrupted"""
    simulated: bool
    n_cells: int
    rows: Sequence[Row]
    missing: Sequence[Mapping[str, str]]
    costs: Sequence[Mapping[str, Any]]


def write_summary(folder: Path, summary: Summary) -> list[Path]:
    """summary.json, summary.csv (a line a figure), summary.md and costs.csv in the sweep's folder."""
    files = [folder / name for name in ("summary.json", "summary.csv", "summary.md", "costs.csv")]
    write_json(files[0], asdict(summary))
    write_text(
        files[1], _csv([_flat(row, name, figure) for row in summary.rows for name, figure in row.metrics.items()])
    )
    write_text(files[2], markdown(summary))
    write_text(files[3], _csv(summary.costs))
    return files


def markdown(summary: Summary) -> str:
    """A table a suite: mean ± std over seeds, and always the numbers they stand on."""
    parts = [f"# {summary.sweep}\n"]
    if summary.simulated:
        parts.append(f"**{SIMULATED_NOTE}**\n")
    finished = summary.n_cells - len(summary.missing)
    parts.append(f"Status: {summary.status}. {finished} of {summary.n_cells} cells have results.\n")
    for suite in dict.fromkeys(row.suite for row in summary.rows):
        parts.append(f"## {get_suite(suite).title} (`{suite}`)\n")
        parts.append(markdown_table(suite_columns(suite), suite_cells(suite, summary.rows)) + "\n")
    if summary.missing:
        parts.append("## Without a result\n")
        parts.append(markdown_table(["cell", "reason"], [[m["cell"], m["reason"]] for m in summary.missing]) + "\n")
    parts.append("## Calls and costs\n")
    parts.append(markdown_table(*cost_table(summary.costs)) + "\n")
    return "\n".join(parts)


def suite_columns(suite: str) -> list[str]:
    """Headings of a suite's table."""
    metrics = [metric.label for metric in get_suite(suite).metrics]
    return ["benchmark", "system", "optimizer", "model", *metrics, "n", "errors", "seeds", "tokens", "list $", "paid $"]


def suite_cells(suite: str, rows: Sequence[Row]) -> list[list[str]]:
    """The rows of a suite as text."""
    cells: list[list[str]] = []
    for row in rows:
        if row.suite != suite:
            continue
        figures = [figure(row.metrics[m.name], m.digits) for m in get_suite(suite).metrics]
        seeds = f"{row.n_seeds}" if row.n_seeds == row.n_seeds_planned else f"{row.n_seeds} of {row.n_seeds_planned}"
        counts = [str(row.n), str(row.n_errors), seeds, str(row.tokens_in + row.tokens_out)]
        cells.append([*row.name, *figures, *counts, dollars(row.list_usd), dollars(row.spent_usd)])
    return cells


def cost_table(costs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the account by phase, role, model and outcome."""
    columns = [
        "phase",
        "role",
        "model",
        "outcome",
        "calls",
        "tokens in",
        "tokens out",
        "spent $",
        "list $",
        "may be billed $",
    ]
    rows = [
        [
            *(str(row[name]) for name in ("phase", "role", "model", "outcome", "calls", "tokens_in", "tokens_out")),
            dollars(row["spent_usd"]),
            dollars(row["list_usd"]),
            dollars(row["at_risk_usd"]),
        ]
        for row in costs
    ]
    return columns, rows


def figure(value: OverSeeds, digits: int) -> str:
    """mean ± std over seeds; "-" where undefined; the mean alone for a single seed, which has no spread."""
    if value.mean is None:
        return "-"
    if value.n_seeds < 2 or value.std is None:
        return f"{value.mean:.{digits}f}"
    return f"{value.mean:.{digits}f} ± {value.std:.{digits}f}"


def dollars(value: float | None) -> str:
    """ "?" where the price is unknown: that is not 0."""
    return "?" if value is None else f"{value:.4f}"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), "|" + "---|" * len(columns), *(line(row) for row in rows)])


def _flat(row: Row, metric: str, value: OverSeeds) -> dict[str, Any]:
    names = ("suite", "benchmark", "system", "optimizer", "model")
    counts = ("n", "n_errors", "n_skipped")
    return {
        **{n: getattr(row, n) for n in names},
        "metric": metric,
        **asdict(value),
        **{n: getattr(row, n) for n in counts},
    }


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
