"""What labels say of the judges: tables for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seedbed.analysis.judge_results import CorrectedContest, JudgeCheck
from seedbed.analysis.results import Summary
from seedbed.report.html import element, plain_table
from seedbed.report.tables import number, p_value
from seedbed.suite import Table

TITLE = "Judges held against people"
_NOTE = (
    "Corrected: what people would have said of all samples, from the judge's scores and the labels; 95% intervals hold "
    "whatever the judge's error is. worth: how many labels without the judge say as much as one with it. more labels: "
    "further samples to label until the difference is settled, if they are like these."
)


def judge_section(summary: Summary) -> dict[str, tuple[str, list[str]]]:
    """The section of the page by its name; none where there is no label."""
    if not summary.judges:
        return {}
    parts = [part for check in summary.judges for part in _page_parts(check)]
    return {"judges": (TITLE, [element("p", _NOTE, **{"class": "note"}), *parts])}


def judge_markdown(summary: Summary) -> list[tuple[str, Sequence[str], list[list[str]]]]:
    """A title, columns and rows a table."""
    return [
        (table.title, table.columns, [["-" if cell is None else str(cell) for cell in row] for row in table.rows])
        for check in summary.judges
        for table in judge_tables(check)
    ]


def _page_parts(check: JudgeCheck) -> Iterable[str]:
    return (plain_table(table, wide=["in words"]) for table in judge_tables(check))


def judge_tables(check: JudgeCheck) -> list[Table]:
    """Agreement, bias, means, and what is left of the verdicts."""
    name = f"{check.metric_label}: {check.benchmark} · {check.model}"
    made = [_agreement(check, name), _biases(check, name), _means(check, name), _contests(check, name)]
    return [table for table in made if table.rows]


def _agreement(check: JudgeCheck, name: str) -> Table:
    raters = ", ".join(f"{rater} {n}" for rater, n in check.raters.items())
    row = [
        check.n_labels, raters, _two(check.kappa), _two(check.rater_kappa), check.n_both, check.n_skipped,
        check.n_waiting,
    ]  # fmt: skip
    columns = ["labels", "by rater", "kappa judge/people", "kappa of two raters", "n of both", "could not tell", "wait"]
    note = "kappa has quadratic weights, and labels count by their chance of being drawn."
    if check.n_waiting:
        note += (
            f" {check.n_waiting} labels wait: samples drawn before them have none yet, and only what was drawn counts."
        )
    return Table(f"{name}: agreement", columns, [row], note)


def _biases(check: JudgeCheck, name: str) -> Table:
    rows = [
        [b.of, b.value, b.n, _signed(b.bias, check), _interval(b.ci_low, b.ci_high, check, signed=True)]
        for b in check.biases
    ]
    note = "The judge's score less people's: above 0 it is lenient. A slice is over all systems."
    return Table(f"{name}: bias", ["of", "value", "labels", "bias", "95% CI"], rows, note)


def _means(check: JudgeCheck, name: str) -> Table:
    rows = [
        [
            m.label,
            number(m.judged, check.digits),
            number(m.mean, check.digits),
            _interval(m.ci_low, m.ci_high, check),
            m.n_labels,
            m.n_samples,
            None if m.worth is None else f"{m.worth:.1f}",
        ]
        for m in check.means
    ]
    columns = ["system", "judge says", "corrected", "95% CI", "labels", "samples", "worth"]
    return Table(f"{name}: means", columns, rows)


def _contests(check: JudgeCheck, name: str) -> Table:
    rows = [
        [
            c.label,
            c.baseline,
            _signed(c.judged, check),
            c.judged_verdict,
            _signed(c.difference, check),
            _interval(c.ci_low, c.ci_high, check, signed=True),
            p_value(c.p_holm),
            c.n_labels,
            in_words(c),
        ]
        for c in check.contests
    ]
    columns = ["system", "baseline", "judge says", "verdict", "corrected", "95% CI", "p (Holm)", "labelled", "in words"]
    return Table(f"{name}: verdicts", columns, rows)


def in_words(contest: CorrectedContest) -> str:
    """Whether a verdict survives, and what would settle it."""
    if contest.verdict is None:
        return f"cannot be said: {contest.reason or 'no verdict'}"
    said = "stands" if contest.survives else f"becomes: {contest.verdict}"
    if contest.verdict != "too small to tell":
        return said
    if contest.more_labels is None:
        return f"{said}; labels of all samples would not settle it, more samples might"
    if contest.more_labels == 0:
        return f"{said}; settled were it the only test"
    return f"{said}; about {contest.more_labels} more labels would settle it"


def _two(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _signed(value: float | None, check: JudgeCheck) -> str:
    return number(value, check.digits, signed=True)


def _interval(low: float | None, high: float | None, check: JudgeCheck, *, signed: bool = False) -> str | None:
    if low is None or high is None:
        return None
    sign = "+" if signed else ""
    return f"[{low:{sign}.{check.digits}f}, {high:{sign}.{check.digits}f}]"
