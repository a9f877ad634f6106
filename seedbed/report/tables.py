"""The tables of a summary as text cells, before any of the formats they are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.analysis.means import OverSeeds
from seedbed.analysis.results import ALPHA, Comparison, Row, Summary
from seedbed.report.links import samples_link
from seedbed.suite import Metric
from seedbed.sweep.registry import get_suite


@dataclass(frozen=True, slots=True)
class TextCell:
    text: str
    best: bool = False
    significant: bool = False
    beside: Sequence[str] = ()
    """What stands behind a figure in smaller print: its interval, its p, its bounds where answers are missing."""
    link: str = ""
    """The samples it was made of, as an address inside the report."""


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
    first: Sequence[str] = ()
    """Columns that a reader wants to see without scrolling, after the key, in this order."""
    n_counts: int = 0
    """How many columns, from the right, say what the figures stand on and cost."""


def suite_table(summary: Summary, suite: str) -> TextTable:
    """A suite's systems: mean ± std over seeds, the interval over samples, and always the numbers they stand on. The
    first metric decides and has daggers, the others show p. Optimizer and model are columns only where they vary."""
    metrics = summary.metrics[suite]
    rows = [row for row in summary.rows if row.suite == suite]
    tests = {(c.benchmark, c.model, c.label, c.metric): c for c in summary.comparisons if c.suite == suite}
    names = [name for name in ("benchmark", "system", "optimizer", "model") if _shown(name, rows)]
    best = {metric.name: _best(rows, metric) for metric in metrics}
    flaws = [name for name in _FLAWS if any(_n(row, name) for row in rows)]
    counts = ["n", "errors", *flaws, "skipped", "tokens", "list $", "paid $"]
    body: list[list[TextCell]] = []
    for row in rows:
        cells = [TextCell(getattr(row, name)) for name in names]
        for place, metric in enumerate(metrics):
            test = tests.get((row.benchmark, row.model, row.label, metric.name))
            text = figure(row.metrics[metric.name], metric.digits)
            marked = place == 0 and test is not None and test.significant
            beside = _beside(row, metric, None if place == 0 or test is None else test.p_holm)
            link = samples_link(row.key, system=row.label, metric=metric.name)
            cells.append(TextCell(text, (*row.key, row.label) in best[metric.name], marked, beside, link))
        links = {name: samples_link(row.key, system=row.label, state=_STATES.get(name, "")) for name in counts}
        body.append(
            [
                *cells,
                *(TextCell(text, link=links[name]) for name, text in zip(counts, _counts(row, flaws), strict=True)),
            ]
        )
    title = f"{get_suite(suite).title} ({suite})"
    columns = [*names, *(m.label for m in metrics), *counts]
    key = _key(names, rows)
    first = [metrics[0].label, *(name for name in counts if name != "tokens"), *(n for n in names if n != names[key])]
    return TextTable(title, columns, len(names), body, _notes(rows, metrics[0]), key, first, len(counts))


def comparison_table(
    comparisons: Sequence[Comparison], suite: str, metric: Metric, *, linked: bool = True
) -> TextTable:
    """A metric of a suite, each system against the baseline; `linked` where both are in the grid of one report."""
    chosen = [c for c in comparisons if c.suite == suite and c.metric == metric.name]
    columns = ["benchmark", "model", "system", "baseline", "difference", "95% CI", "p", "p (Holm)", "effect size",
               "detectable", "wins/ties/losses", "n", "clusters", "missing", "test", "verdict"]  # fmt: skip
    return TextTable(
        f"{metric.label}: against the baseline",
        columns,
        4,
        [[*map(TextCell, _compared(c, metric.digits)[:4]), *_differing(c, metric, linked=linked)] for c in chosen],
        key=columns.index("system"),
        first=["verdict", "difference", "95% CI", "p (Holm)", "n", "baseline", "benchmark", "model"],
    )


def _differing(c: Comparison, metric: Metric, *, linked: bool) -> list[TextCell]:
    """The figures of a comparison lead to the samples on which the two differ."""
    link = samples_link((c.suite, c.benchmark, c.model), system=c.label, against=c.baseline, metric=metric.name)
    return [TextCell(text, link=link if linked else "") for text in _compared(c, metric.digits)[4:]]


def cost_table(costs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the account by phase, role, model and outcome."""
    columns = ["phase", "role", "model", "outcome", "calls", "cut", "tokens in", "tokens out", "spent $",
               "list $", "may be billed $"]  # fmt: skip
    rows = [
        [
            *(str(row[name]) for name in ("phase", "role", "model", "outcome")),
            *("?" if row.get(name) is None else str(row[name]) for name in ("calls", "cut", "tokens_in", "tokens_out")),
            dollars(row["spent_usd"]),
            dollars(row["list_usd"]),
            dollars(row["at_risk_usd"]),
        ]
        for row in costs
    ]
    return columns, rows


def _beside(row: Row, metric: Metric, p: float | None) -> list[str]:
    """Behind a mean: its interval over samples, the p of metrics that do not decide, and the mean had all that is
    missing been at the ends of the range."""
    if row.metrics[metric.name].mean is None:
        return []
    samples, digits = row.samples[metric.name], metric.digits
    parts: list[str] = []
    if samples.ci_low is not None and samples.ci_high is not None:
        parts.append(f"[{samples.ci_low:.{digits}f}, {samples.ci_high:.{digits}f}]")
    if p is not None:
        parts.append(f"p {p_value(p)}")
    if samples.bound_low is not None and samples.bound_high is not None:
        parts.append(f"({samples.bound_low:.{digits}f} .. {samples.bound_high:.{digits}f})")
    return parts


def sizes(samples: int, seeds: int) -> str:
    """Samples x seeds."""
    return f"{samples} x {seeds}"


def answerer_table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of who answered."""
    columns = ["model", "answered by", "fingerprint", "provider", "service tier", "answers"]
    names = ("model", "answered_by", "fingerprint", "provider", "service_tier", "answers")
    return columns, [["-" if row[name] is None else str(row[name]) for name in names] for row in rows]


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
        *(sizes(c.n_pairs, c.n_seeds), str(c.n_clusters), str(c.n_missing), c.test or "-", verdict_text(c)),
    ]


def verdict_text(c: Comparison) -> str:
    """The verdict, with the reason where there is none, and how the contest ended where it was looked at."""
    words = c.verdict if c.reason is None else f"{c.verdict}: {c.reason}"
    return words if c.stopped is None else f"{words} ({c.stopped})"


def _shown(name: str, rows: Sequence[Row]) -> bool:
    found = {getattr(row, name) for row in rows}
    return len(found) > 1 or name in ("benchmark", "system") or (name == "optimizer" and found != {"Baseline"})


def _key(names: Sequence[str], rows: Sequence[Row]) -> int:
    """The system, or the optimizer where all rows are of one system."""
    same = len({row.system for row in rows}) == 1
    return names.index("optimizer" if same and "optimizer" in names else "system")


_STATES = {"errors": "error", "skipped": "skipped", "unreadable": "unreadable", "truncated": "truncated"}
"""By column of a table, how the samples ended that it counts."""
_FLAWS = ("unreadable", "truncated")
"""Counts that a table has where any of its rows has one."""


def _n(row: Row, name: str) -> int:
    return getattr(row, f"n_{name}")


def _counts(row: Row, flaws: Sequence[str]) -> list[str]:
    asked = row.n + row.n_errors + row.n_skipped
    whole = sizes(asked // row.n_seeds if row.n_seeds else asked, row.n_seeds)
    lost = "" if row.n_seeds == row.n_seeds_planned else f" of {row.n_seeds_planned}"
    n = f"{whole}{lost}" if row.n == asked else f"{row.n} of {whole}{lost}"
    tokens = "?" if row.uncounted else row.tokens_in + row.tokens_out
    counts = [row.n_errors, *(_n(row, name) for name in flaws), row.n_skipped, tokens]
    return [n, *map(str, counts), dollars(row.list_usd), dollars(row.spent_usd)]


def _best(rows: Sequence[Row], metric: Metric) -> set[tuple[str, str, str, str]]:
    """The best of each table on the samples that all its systems have; none where the metric has no good side, or all
    are equal as printed."""
    if metric.higher_is_better is None:
        return set()
    best: set[tuple[str, str, str, str]] = set()
    for table in dict.fromkeys(row.key for row in rows):
        own = {row.label: value for row in rows if row.key == table
               if (value := _comparable(row, metric, rows)) is not None}  # fmt: skip
        shown = {label: f"{value:.{metric.digits}f}" for label, value in own.items()}
        if len(set(shown.values())) > 1:
            top = (max if metric.higher_is_better else min)(own, key=own.__getitem__)
            best |= {(*table, label) for label, text in shown.items() if text == shown[top]}
    return best


def _comparable(row: Row, metric: Metric, rows: Sequence[Row]) -> float | None:
    """What may be held against other systems: the mean on common samples; the mean as it is where nothing failed."""
    if (common := row.samples[metric.name].common) is not None:
        return common
    whole = not any(other.n_errors for other in rows if other.key == row.key)
    return row.metrics[metric.name].mean if whole and metric.kind == "pooled" else None


_OPTIMISED = (
    "An optimizer finds another program with every seed: tests and intervals of differences are about other seeds too, "
    "and one seed gives no verdict."
)
_UNEQUAL = "Clusters of very unequal size: 95% intervals over samples cover less often than they say."
_FEW_CLUSTERS = (
    "Fewer than 50 clusters: 95% intervals over samples cover less often than they say where the samples of a cluster "
    "are answered alike, and far less near the ends of the range."
)
_FEW = "Fewer than 30 samples: intervals are wider than they need be, and cover more often than they say."
_FEW_SAMPLES = 30
_NEAR_END = (
    "A mean within a tenth of an end of its range, from fewer than 300 samples: its interval is wider than it need be."
)
_END, _MANY_SAMPLES = 0.1, 300


def _notes(rows: Sequence[Row], first: Metric) -> list[str]:
    bases = {(row.benchmark, row.model): row.label for row in rows if row.is_baseline}
    names = sorted(set(bases.values()))
    against = names[0] if len(names) == 1 else ", ".join(f"{label} on {b} with {m}" for (b, m), label in bases.items())
    samples = [row.samples[first.name] for row in rows]
    missing = any(own.bound_low is not None for row in rows for own in row.samples.values())
    return [
        "Mean ± standard deviation over seeds [95% interval over samples]. n: samples x seeds, all of them scored "
        "unless it says how many; errors and skipped have no score, unreadable answers have the worst; truncated ones "
        "were cut off at max_tokens, and are scored if they can be read.",
        f"Bold: best of its benchmark and model, on the samples that all systems have. †: {first.label} differs from "
        f"the baseline {against} (paired by sample, Holm-adjusted p < {ALPHA:g}). p: the same test of a metric that "
        "does not decide.",
        *(["(low .. high): the mean had all missing answers been at either end of the range."] if missing else []),
        *([_OPTIMISED] if any(row.optimizer != "Baseline" for row in rows) else []),
        *([_UNEQUAL] if any(own.unequal_clusters for own in samples) else []),
        *([_FEW_CLUSTERS] if any(own.few_clusters for own in samples) else []),
        *([_FEW] if any(0 < own.n_samples < _FEW_SAMPLES for own in samples) else []),
        *([_NEAR_END] if any(_near_end(row, first) for row in rows) else []),
    ]


def _near_end(row: Row, metric: Metric) -> bool:
    mean, n = row.metrics[metric.name].mean, row.samples[metric.name].n_samples
    if mean is None or metric.range is None or not _FEW_SAMPLES <= n < _MANY_SAMPLES:
        return False
    return not _END <= metric.share(mean) <= 1 - _END
