"""The formats of a summary that read back: Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from seedbed.analysis.results import SIMULATED_NOTE, Row, Summary
from seedbed.report.judge_section import judge_markdown
from seedbed.report.tables import TextCell, TextTable, answerer_table, comparison_table, cost_table, suite_table


def to_markdown(summary: Summary) -> str:
    """A table a suite, the first metric of each against the baseline, what is missing, the costs."""
    parts = [f"# {summary.sweep}\n"]
    if summary.simulated:
        parts.append(f"**{SIMULATED_NOTE}**\n")
    finished = summary.n_cells - len(summary.missing)
    parts.append(f"Status: {summary.status}. {finished} of {summary.n_cells} cells have results.\n")
    parts += [f"**Note: {plain_text(note)}**\n" for note in summary.notes]
    for suite in dict.fromkeys(row.suite for row in summary.rows):
        table = suite_table(summary, suite)
        parts += [f"## {table.title}\n", markdown_table(table) + "\n", *(f"{note}\n" for note in table.notes)]
        metric = summary.metrics[suite][0]
        compared = comparison_table(summary.comparisons, suite, metric)
        if compared.rows:
            parts += [f"### {compared.title}\n", markdown_table(compared) + "\n"]
    for title, columns, cells in judge_markdown(summary):
        shown = [[plain_text(cell) if cell[:1] != "<" else cell for cell in row] for row in cells]
        parts += [f"### {plain_text(title)}\n", plain_markdown(columns, shown) + "\n"]
    if summary.missing:
        rows = [[m["cell"], plain_text(m["reason"])] for m in summary.missing]
        parts += ["## Without a result\n", plain_markdown(["cell", "reason"], rows) + "\n"]
    parts += ["## Calls and costs\n", plain_markdown(*cost_table(summary.costs)) + "\n"]
    if summary.answerers:
        columns, rows = answerer_table(summary.answerers)
        parts += ["## Who answered\n", plain_markdown(columns, [[plain_text(c) for c in row] for row in rows]) + "\n"]
    return "\n".join(parts)


def markdown_table(table: TextTable) -> str:
    def show(cell: TextCell) -> str:
        text = f"**{cell.text}**" if cell.best else cell.text
        marked = f"{text}†" if cell.significant else text
        return " ".join([marked, *cell.beside])

    return plain_markdown(table.columns, [[show(cell) for cell in row] for row in table.rows])


def plain_text(text: str) -> str:
    """Words of somebody else, a provider's or a model's, of which Markdown makes no tag, no picture, no hidden link."""
    return text.replace("\\", "\\\\").replace("<", "\\<").replace("](", "]\\(").replace("][", "]\\[")


def plain_markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), "|" + "---|" * len(columns), *(line(row) for row in rows)])


def read_markdown(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Every table of a text: its columns and rows, bold and daggers kept as they stand."""
    tables: list[tuple[list[str], list[list[str]]]] = []
    block: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
            block.append([cell.strip().replace("\\|", "|") for cell in cells])
        elif block:
            tables.append((block[0], block[2:]))
            block = []
    return tables


def to_csv(summary: Summary) -> str:
    """A line a figure: over seeds, over samples, and against the baseline."""
    found = {(c.suite, c.benchmark, c.model, c.label, c.metric): c for c in summary.comparisons}
    lines: list[dict[str, Any]] = []
    for row in summary.rows:
        for metric in row.metrics:
            compared = found.get((*row.key, row.label, metric))
            lines.append({**_names(row), "metric": metric, **_figures(row, metric), **_against(compared)})
    return csv_text(lines)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_csv(text: str) -> list[dict[str, Any]]:
    """Rows with numbers as numbers and empty fields as None, as they were before writing."""
    return [{name: _value(field) for name, field in row.items()} for row in csv.DictReader(io.StringIO(text))]


def _names(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("suite", "benchmark", "system", "optimizer", "model")}


def _figures(row: Row, metric: str) -> dict[str, Any]:
    over = {f"sample_{name}" if name in ("std", "ci_low", "ci_high") else name: value
            for name, value in asdict(row.samples[metric]).items()}  # fmt: skip
    counts = {name: getattr(row, name) for name in ("n", "n_errors", "n_unreadable", "n_truncated", "n_skipped")}
    return {**asdict(row.metrics[metric]), **counts, **over}


_COMPARED = ("baseline", "difference", "difference_ci_low", "difference_ci_high", "p", "p_holm", "test", "effect_size",
             "detectable", "n_pairs", "wins", "ties", "losses", "verdict", "reason", "stopped")  # fmt: skip


def _against(compared: Any) -> dict[str, Any]:
    if compared is None:
        return dict.fromkeys(_COMPARED)
    return {name: getattr(compared, name.removeprefix("difference_")) for name in _COMPARED}


def _value(field: str) -> Any:
    if field == "":
        return None
    for kind in (int, float):
        try:
            return kind(field)
        except ValueError:
            continue
    return field
