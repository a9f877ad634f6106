"""The tables of a summary as text cells, before any of the formats they are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.analysis.means import OverSeeds
from seedbed.analysis.results import ALPHA, Comparison, Row, Summary
from seedbed.suite import Metric
from seedbed.sweep.registry import get_suite


@dataclass(frozen=True, slots=True)
class TextCell:
    text: str
    best: bool = False
    significant: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    title: str
    columns: Sequence[str]
    n_names: int
    """How many columns, from the left, are names; the others are numbers."""
    rows: Sequence[Sequence[TextCell]]
    notes: Sequence[str] = ()
    key: int = 0
    """The name column that stays in sight when a wide table is scrolled."""
    n_counts: int = 0
    """How many columns, from the right, say what the figures stand on and cost."""


def suite_table(summary: Summary, suite: str) -> TextTable:
    """A suite's systems: mean ± std over seeds and always the numbers they stand on. Optimizer and model are columns
    only where they vary."""
    metrics = summary.metrics[suite]
    rows = [row for row in summary.rows if row.suite == suite]
    marks = {(c.benchmark, c.model, c.label, c.metric): c.significant for c in summary.comparisons if c.suite == suite}
    names = [name for name in ("benchmark", "system", "optimizer", "model") if _shown(name, rows)]
    best = {metric.name: _best(rows, metric) for metric in metrics}
    counts = ["n", "errors", "skipped", "seeds", "tokens", "list $", "paid $"]
    body: list[list[TextCell]] = []
    for row in rows:
        cells = [TextCell(getattr(row, name)) for name in names]
        for metric in metrics:
            marked = marks.get((row.benchmark, row.model, row.label, metric.name), False)
            text = figure(row.metrics[metric.name], metric.digits)
            cells.append(TextCell(text, (*row.key, row.label) in best[metric.name], marked))
        body.append([*cells, *map(TextCell, _counts(row))])
    title = f"{get_suite(suite).title} ({suite})"
    columns = [*names, *(m.label for m in metrics), *counts]
    return TextTable(title, columns, len(names), body, _notes(rows), _key(names, rows), len(counts))


def comparison_table(comparisons: Sequence[Comparison], suite: str, metric: Metric) -> TextTable:
    """A metric of a suite, each system against the baseline."""
    chosen = [c for c in comparisons if c.suite == suite and c.metric == metric.name]
    columns = ["benchmark", "model", "system", "baseline", "difference", "95% CI", "p", "p (Holm)", "effect size",
               "detectable", "wins/ties/losses", "pairs", "clusters", "test", "verdict"]  # fmt: skip
    return TextTable(
        f"{metric.label}: against the baseline",
        columns,
        4,
        [[TextCell(text) for text in _compared(c, metric.digits)] for c in chosen],
        key=columns.index("system"),
    )


def cost_table(costs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the account by phase, role, model and outcome."""
    columns = ["phase", "role", "model", "outcome", "calls", "tokens in", "tokens out", "spent $", "list $",
               "may be billed $"]  # fmt: skip
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


def number(value: float | None, digits: int, *, signed: bool = False) -> str:
    return "-" if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def p_value(p: float | None) -> str:
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _compared(c: Comparison, digits: int) -> list[str]:
    interval = "-" if c.ci_low is None or c.ci_high is None else f"{c.ci_low:+.{digits}f} to {c.ci_high:+.{digits}f}"
    tally = "-" if c.wins is None else f"{c.wins}/{c.ties}/{c.losses}"
    return [
        *(c.benchmark, c.model, c.label, c.baseline, number(c.difference, digits, signed=True), interval),
        *(p_value(c.p), p_value(c.p_holm), number(c.effect_size, 2, signed=True), number(c.detectable, digits), tally),
        *(str(c.n_pairs), str(c.n_clusters), c.test or "-", c.verdict),
    ]


def _shown(name: str, rows: Sequence[Row]) -> bool:
    found = {getattr(row, name) for row in rows}
    return len(found) > 1 or name in ("benchmark", "system") or (name == "optimizer" and found != {"Baseline"})


def _key(names: Sequence[str], rows: Sequence[Row]) -> int:
    """The system, or the optimizer where all rows are of one system."""
    same = len({row.system for row in rows}) == 1
    return names.index("optimizer" if same and "optimizer" in names else "system")


def _counts(row: Row) -> list[str]:
    seeds = f"{row.n_seeds}" if row.n_seeds == row.n_seeds_planned else f"{row.n_seeds} of {row.n_seeds_planned}"
    tokens = str(row.tokens_in + row.tokens_out)
    counts = [str(row.n), str(row.n_errors), str(row.n_skipped), seeds, tokens]
    return [*counts, dollars(row.list_usd), dollars(row.spent_usd)]


def _best(rows: Sequence[Row], metric: Metric) -> set[tuple[str, str, str, str]]:
    """The best of each table; none where the metric has no good side or all are equal as printed."""
    if metric.higher_is_better is None:
        return set()
    best: set[tuple[str, str, str, str]] = set()
    for table in dict.fromkeys(row.key for row in rows):
        own = {row.label: value for row in rows if row.key == table
               if (value := row.metrics[metric.name].mean) is not None}  # fmt: skip
        shown = {label: f"{value:.{metric.digits}f}" for label, value in own.items()}
        if len(set(shown.values())) > 1:
            top = (max if metric.higher_is_better else min)(own, key=own.__getitem__)
            best |= {(*table, label) for label, text in shown.items() if text == shown[top]}
    return best


_OPTIMISED = (
    "An optimizer finds another program with every seed, which a test by sample does not see: for such systems look "
    "at the spread over seeds before you believe a †."
)


def _notes(rows: Sequence[Row]) -> list[str]:
    bases = {(row.benchmark, row.model): row.label for row in rows if row.is_baseline}
    names = sorted(set(bases.values()))
    against = names[0] if len(names) == 1 else ", ".join(f"{label} on {b} with {m}" for (b, m), label in bases.items())
    return [
        "Mean ± standard deviation over seeds. n counts the samples of all seeds that were scored, errors and skipped "
        "those that were not.",
        f"Bold: best of its benchmark and model. †: differs from the baseline {against} (paired by sample, "
        f"Holm-adjusted p < {ALPHA:g}).",
        *([_OPTIMISED] if any(row.optimizer != "Baseline" for row in rows) else []),
    ]
