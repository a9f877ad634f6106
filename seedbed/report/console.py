"""The end of a sweep in the terminal: verdicts in words, and tables that fit its width."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seedbed.analysis.results import SIMULATED_NOTE
from seedbed.report.writers import read_markdown

_COUNTS = ("n", "errors", "unreadable", "truncated", "skipped", "tokens", "list $", "paid $")
_ALWAYS = ("n", "errors", "unreadable", "truncated", "paid $")
"""What figures stand on, and cost, is shown before more figures are."""
_NAMES = ("benchmark", "system", "optimizer", "model")
_LEGEND = (
    "± std over seeds, [95% interval over samples], † differs from the baseline, p: the same test of a metric that "
    "does not decide, * the best"
)
_BOUNDS = "; (low .. high) had the missing answers all been at either end of the range"
_WORDS = {"better": "beats", "worse": "loses to", "higher": "is above", "lower": "is below"}


def console_summary(markdown: str, summary: Mapping[str, Any], width: int) -> str:
    """The tables of systems out of summary.md with as many figures as fit, the first metric first; before them what
    the comparisons say."""
    out = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None, highlight=False)
    for line in _head(summary):
        out.print(Text(line))
    out.print(Text(_LEGEND + _BOUNDS * ("(low .. high)" in markdown)))
    for (columns, rows), title in zip(read_markdown(markdown), _titles(markdown), strict=False):
        if "system" in columns and "paid $" in columns:
            out.print()
            out.print(Text(title))
            out.print(_fitting(columns, rows, width))
    for line in verdict_lines(summary):
        out.print(Text(line))
    for row in summary["missing"]:
        out.print(Text(f"without a result: {row['cell']}: {row['reason']}"))
    file = out.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def verdict_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Each system against the baseline in the first metric, and in the one that ended their contest, in a sentence."""
    for suite, metrics in summary["metrics"].items():
        first = metrics[0]["name"]
        own = [c for c in summary["comparisons"] if c["suite"] == suite]
        chosen = [c for c in own if c["metric"] == first or c.get("test") == "sequential"]
        if chosen:
            yield ""
        yield from map(verdict_line, chosen)


def verdict_line(c: Mapping[str, Any]) -> str:
    """`multi beats direct by 0.410 F1 [0.290, 0.530], 60 samples x 3 seeds`, and how it ended if it was looked at."""
    return f"{_verdict(c)}; {c['stopped']}" if c.get("stopped") else _verdict(c)


def _verdict(c: Mapping[str, Any]) -> str:
    where = f"{c['benchmark']} with {c['model']}: "
    sizes = f"{c['n_pairs']} samples x {c['n_seeds']} seed{'s' * (c['n_seeds'] != 1)}"
    if c["difference"] is None or c["ci_low"] is None:
        return f"{where}{c['label']} and {c['baseline']}: {c['verdict']}{': ' + c['reason'] if c['reason'] else ''}"
    digits = c["digits"]
    interval = f"[{c['ci_low']:+.{digits}f}, {c['ci_high']:+.{digits}f}]"
    if (words := _WORDS.get(c["verdict"])) is not None:
        return (
            f"{where}{c['label']} {words} {c['baseline']} by {abs(c['difference']):.{digits}f} {c['metric_label']} "
            f"{interval}, {sizes}"
        )
    reason = f" ({c['reason']})" if c["reason"] else ""
    return (
        f"{where}{c['label']} against {c['baseline']}: {c['verdict']}, {c['difference']:+.{digits}f} "
        f"{c['metric_label']} {interval}, {sizes}{reason}"
    )


def _head(summary: Mapping[str, Any]) -> Iterator[str]:
    finished = summary["n_cells"] - len(summary["missing"])
    yield f"{summary['sweep']}: {summary['status']}, {finished} of {summary['n_cells']} cells have results"
    yield from ([SIMULATED_NOTE] if summary["simulated"] else [])
    yield from (f"note: {note}" for note in summary["notes"])


def _titles(markdown: str) -> Iterator[str]:
    """The heading above each table."""
    title, inside = "", False
    for line in markdown.splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ")
        if line.startswith("|") and not inside:
            yield title
        inside = line.startswith("|")


def _fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Table:
    """Names, the first metric and the counts; then other metrics, as many as there is room for."""
    cells = [
        [text if name in _NAMES else _lines(text) for name, text in zip(columns, row, strict=True)] for row in rows
    ]
    widths = [max(map(_width, [name, *(row[i] for row in cells)])) for i, name in enumerate(columns)]
    shown = {i for i, name in enumerate(columns) if name in _NAMES or name in _ALWAYS}
    metrics = [i for i, name in enumerate(columns) if name not in _NAMES and name not in _COUNTS]
    shown |= set(metrics[:1])
    room = width - sum(widths[i] + 2 for i in shown)
    for i in [*metrics[1:], *(i for i, name in enumerate(columns) if name in _COUNTS and i not in shown)]:
        if widths[i] + 2 > room:
            break  # the order is the suite's own: none is skipped for a narrower one
        shown.add(i)
        room -= widths[i] + 2
    hidden = [columns[i] for i in metrics if i not in shown]
    caption = f"not shown: {', '.join(hidden)}; --all prints them, report.html has them" if hidden else None
    table = Table(box=None, padding=(0, 2, 0, 0), caption=caption, caption_justify="left", pad_edge=False)
    for i, name in enumerate(columns):
        if i in shown:
            table.add_column(name, justify="left" if name in _NAMES else "right", overflow="fold")
    for row in cells:
        table.add_row(*(Text(text) for i, text in enumerate(row) if i in shown))
    return table


def _lines(text: str) -> str:
    """A figure, with its interval and p below it; a star marks the best."""
    figure, *beside = re.split(r" (?=[\[(]|p [<\d])", text)
    best = figure.startswith("**")
    return "\n".join([figure.replace("**", "") + "*" * best, *beside])


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))
