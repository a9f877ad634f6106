"""What a report shows beyond the summary, gathered while the score tables pass by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seedbed.analysis.results import Summary
from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.report.canvas import Plot, style
from seedbed.report.curves import Slice, cases_of, learning_curves, option_curves, slices
from seedbed.report.links import sample_link
from seedbed.report.plots import Curve, curves_plot, differences_plot, dots_plot, pareto_plot, seeds_plot
from seedbed.report.power_curve import Spread, power_plot, table_spreads
from seedbed.report.sample_list import MAX_SAMPLES, SampleBook
from seedbed.storage.store import Store
from seedbed.suite import CellResult, Figure, Shown, Table, resolve
from seedbed.sweep.plan import Plan
from seedbed.sweep.registry import get_suite

_MAX_SLICES = 8
"""Slices drawn; further ones are tables only."""
_MAX_DOTS = 8
"""Systems that can be told apart side by side."""

Part = Table | Figure | Plot


@dataclass
class ReportInputs:
    """Holds figures, not rows: it grows with systems and seeds by a number each."""

    store: Store
    plan: Plan
    book: SampleBook
    seeds: dict[TableKey, dict[str, dict[int, float]]] = field(default_factory=dict[Any, Any])
    cells: dict[str, list[CellResult]] = field(default_factory=dict[str, list[CellResult]])
    sliced: dict[str, list[Slice]] = field(default_factory=dict[str, list[Slice]])
    learning: dict[str, dict[str, list[Curve]]] = field(default_factory=dict[str, Any])
    spreads: dict[str, dict[str, list[Spread]]] = field(default_factory=dict[str, Any])
    failures: list[list[str]] = field(default_factory=list[list[str]])
    failure_links: list[str] = field(default_factory=list[str])
    """By failure, the address of its sample."""
    failure_counts: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])

    def watch(self, table: ScoreTable) -> None:
        suite, benchmark, model = table.key
        primary = table.declared[0].name
        self.seeds[table.key] = {
            label: {seed: value for seed, m in own.items() if (value := m.get(primary)) is not None}
            for label, own in table.seeds.items()
        }
        for label, cells in table.cells.items():
            self.cells.setdefault(suite, []).extend(
                CellResult(benchmark, label, model, c.seed, table.seeds[label][c.seed], self.store.cell_dir(c))
                for c in cells
            )
        self.sliced.setdefault(suite, []).extend(slices(table, cases_of(self.plan, table)))
        if curves := learning_curves(self.store, table):
            self.learning.setdefault(suite, {})[f"{benchmark} · {model}"] = curves
        self.spreads.setdefault(suite, {})[f"{benchmark} · {model}"] = table_spreads(table)
        self.failures += [[cell.title, sample, status, reason] for cell, sample, status, reason in table.failures]
        self.failure_links += [sample_link(table.key, sample) for _, sample, _, _ in table.failures]
        for (label, status, kind), count in table.failure_counts.items():
            self.failure_counts[suite, benchmark, label, model, status, kind] += count
        self.book.add(self.store, self.plan, table)


def start(store: Store, plan: Plan, samples: int = MAX_SAMPLES) -> ReportInputs:
    """Ready to watch; each cell gets an equal share of the samples that a report has room for."""
    return ReportInputs(store, plan, SampleBook(max(1, samples // max(1, len(plan.cells)))))


def parts(inputs: ReportInputs, summary: Summary) -> dict[str, list[Part]]:
    """The drawings and tables of each suite: those all suites get, then its own."""
    with style():
        return {suite: [*_generic(inputs, summary, suite), *_own(inputs, summary, suite)] for suite in inputs.cells}


def _generic(inputs: ReportInputs, summary: Summary, suite: str) -> list[Part]:
    metric = summary.metrics[suite][0]
    made: list[Part | None] = [
        seeds_plot(summary, suite, inputs.seeds),
        differences_plot(summary.comparisons, suite, metric),
        pareto_plot(summary, suite),
    ]
    made.append(power_plot(suite, metric.label, inputs.spreads.get(suite, {})))
    for option, panels in option_curves(inputs.plan, summary, suite).items():
        note = "Band: 95% interval over samples."
        title = f"{metric.label} over {option}"
        made.append(curves_plot(f"{suite}-over-{option}", title, option, metric.label, panels, note))
    if suite in inputs.learning:
        note = "Best val score so far, a line a cell."
        panels = inputs.learning[suite]
        made.append(curves_plot(f"{suite}-learning", "Learning curves", "metric calls", "val score", panels, note))
    for place, own in enumerate(inputs.sliced[suite]):
        if place < _MAX_SLICES and len(own.dots) <= _MAX_DOTS:
            name, title = f"{suite}-{own.table.title}", own.table.title
            made.append(dots_plot(name, title, own.values, own.dots, own.label, own.table.note))
        made.append(own.table)
    return [part for part in made if part is not None]


def _own(inputs: ReportInputs, summary: Summary, suite: str) -> Sequence[Part]:
    target = get_suite(suite).report
    if target is None:
        return []
    try:
        return list(resolve(target)(with_figures(inputs.cells[suite], summary, suite)))
    except Exception as error:
        # A report without a suite's extra part is worth more than none; the page says what is missing.
        return [Table("This suite's own part could not be made", ["error"], [[f"{type(error).__name__}: {error}"]])]


def with_figures(cells: Sequence[CellResult], summary: Summary, suite: str) -> list[CellResult]:
    """The cells with what the summary says of their systems: one figure has one interval, wherever it is shown."""
    shown = {
        (row.benchmark, row.label, row.model): {
            name: Shown(figure.mean, row.samples[name].ci_low, row.samples[name].ci_high)
            for name, figure in row.metrics.items()
        }
        for row in summary.rows
        if row.suite == suite
    }
    return [replace(cell, shown=shown.get((cell.benchmark, cell.label, cell.model), {})) for cell in cells]


def file_name(suite: str, part: Figure | Plot) -> str:
    """The name of a drawing's file, without its ending."""
    return part.name if isinstance(part, Plot) else re.sub(r"[^A-Za-z0-9._-]+", "-", f"{suite}-{part.title}")
