"""The verdict of a night as Markdown: for the Prefect UI, a message, a reader of the run's folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seedbed.analysis.results import Comparison
from seedbed.report.writers import plain_text

if TYPE_CHECKING:
    from seedbed.nightly.gate import GateResult

_SIGN = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}


def gate_markdown(sweep: str, run: str, result: GateResult, nights: Sequence[Mapping[str, str]]) -> str:
    """Verdict, reasons, every judged figure, and `nights` (this one among them) as a table."""
    parts = [
        f"# {_SIGN[result.verdict]}: {sweep}",
        f"Run {run}, held against baseline {result.baseline or '(none accepted)'}.",
    ]
    for level, title in (
        ("fail", "Why it fails"),
        ("inconclusive", "What cannot be told"),
        ("note", "Worth knowing"),
    ):
        own = [reason.text for reason in result.reasons if reason.level == level]
        if own:
            parts.append(f"## {title}\n\n" + "\n".join(f"- {plain_text(text)}" for text in own))
    if result.explanation is not None:
        parts.append(f"## What moved it\n\n{plain_text(result.explanation.markdown())}")
    if result.comparisons:
        parts.append("## Judged figures\n\n" + _table([_comparison(c) for c in result.comparisons]))
    if nights:
        parts.append("## Last nights\n\n" + _table(nights))
    return "\n\n".join(parts) + "\n"


def _comparison(c: Comparison) -> dict[str, str]:
    def figure(value: float | None, sign: str = "") -> str:
        return "-" if value is None else f"{value:{sign}.{c.digits}f}"

    return {
        "benchmark": c.benchmark,
        "system": c.label,
        "model": c.model,
        "metric": c.metric_label,
        "baseline": figure(c.baseline_mean),
        "tonight": figure(c.mean),
        "difference": figure(c.difference, "+"),
        "95% CI": "-" if c.ci_low is None else f"[{figure(c.ci_low, '+')}, {figure(c.ci_high, '+')}]",
        "p (Holm)": "-" if c.p_holm is None else f"{c.p_holm:.2g}",
        "n": str(c.n_pairs),
        "verdict": c.verdict,
    }


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    body = ([row.get(name, "-").replace("|", "\\|") for name in columns] for row in rows)
    lines = [columns, ["---"] * len(columns), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
