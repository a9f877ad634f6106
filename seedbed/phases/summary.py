"""The summary of a sweep: made from the stored rows, written in four formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from seedbed.analysis.answerers import changes_within
from seedbed.analysis.comparisons import table_comparisons
from seedbed.analysis.families import judged
from seedbed.analysis.jackknife import jackknife
from seedbed.analysis.measured import Measured
from seedbed.analysis.results import MARGIN, Row, Summary, as_data
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.table_rows import table_rows
from seedbed.phases.answer_notes import FirstExamples, answer_notes
from seedbed.phases.choice_notes import choice_notes
from seedbed.phases.judge_checks import JudgeChecks
from seedbed.phases.labels import Labels
from seedbed.phases.looks import looked, looks_note, with_looks
from seedbed.phases.score_tables import score_tables, table_score_rows
from seedbed.phases.uncounted import uncounted_note
from seedbed.report.latex import to_latex
from seedbed.report.numbers import to_numbers
from seedbed.report.tables import cost_table, dollars
from seedbed.report.writers import csv_text, to_csv, to_markdown
from seedbed.storage.store import Store, json_text
from seedbed.sweep.plan import Plan
from seedbed.sweep.registry import get_suite

__all__ = ["FILES", "Summary", "cost_table", "dollars", "make_summary", "summary_files"]

FILES: Mapping[str, Callable[[Summary], str]] = {
    "summary.csv": to_csv,
    "summary.md": to_markdown,
    "summary.tex": to_latex,
    "numbers.tex": to_numbers,
    "costs.csv": lambda summary: csv_text(summary.costs),
}
"""Text files of a summary, beside summary.json."""
SHOWN = ("report.html", *(name for name in FILES if name != "costs.csv"), "summary.json", "costs.csv")
"""Files of a run that a reader is pointed to."""


def make_summary(
    store: Store,
    plan: Plan,
    costs: Sequence[Mapping[str, Any]],
    failures: Mapping[str, str],
    status: str,
    *,
    baseline: str | None = None,
    margin: float = MARGIN,
    watch: Callable[[ScoreTable], None] | None = None,
    answerers: Sequence[Mapping[str, Any]] = (),
    labels: Labels | None = None,
) -> Summary:
    """Read every finished cell once. `failures` maps ids of cells without a result to the reason; `watch` sees each
    table while it is in memory."""
    rows: list[Row] = []
    comparisons: list[Measured] = []
    first = FirstExamples()
    checks = JudgeChecks(store, plan, labels or Labels())
    looks = looked(store, plan)
    for table in score_tables(store, plan, baseline):
        planned = [c for c in plan.cells if (c.suite, c.benchmark, c.model) == table.key]
        composed = jackknife(table, get_suite(table.key[0]), partial(table_score_rows, store, table))
        rows += table_rows(table, planned, composed)
        comparisons += with_looks(table_comparisons(table, margin, composed), looks)
        first.watch(table)
        checks.watch(table)
        if watch is not None:
            watch(table)
    verdicts = judged(comparisons)
    return Summary(
        sweep=plan.config.name,
        status=status,
        simulated=plan.simulated,
        n_cells=len(plan.cells),
        margin=margin,
        rows=rows,
        comparisons=verdicts,
        missing=[{"cell": plan.cell(cell_id).title, "reason": reason} for cell_id, reason in failures.items()],
        costs=[*costs, *_uncounted_costs(rows)],
        answerers=answerers,
        notes=[
            *(uncounted_note(row.label, row.n) for row in rows if row.uncounted),
            *answer_notes(rows, costs, plan.config.models, first),
            *changes_within(answerers),
            *looks_note(looks),
            *choice_notes(store, plan),
        ],
        metrics={suite: plan.metrics(suite) for suite in dict.fromkeys(row.suite for row in rows)},
        judges=checks.made(verdicts),
    )


def _uncounted_costs(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A row of the account for calls that no ledger knows: all that can be said of them is that they were made."""
    models = dict.fromkeys(row.model for row in rows if row.uncounted)
    unknown = dict.fromkeys(("calls", "cut", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning"))
    dollars = dict.fromkeys(("spent_usd", "list_usd", "at_risk_usd"))
    return [
        {"phase": "generate", "role": "task", "model": model, "outcome": "uncounted", **unknown, **dollars}
        for model in models
    ]


def summary_files(summary: Summary) -> dict[str, str]:
    """summary.json and the files above, by name."""
    return {"summary.json": json_text(as_data(summary)), **{name: render(summary) for name, render in FILES.items()}}
