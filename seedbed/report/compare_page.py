"""compare.html: two sweeps in one page, sample by sample, the worst regressions first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape

from seedbed.analysis.results import Comparison
from seedbed.report.console import verdict_line
from seedbed.report.html import element, text_table
from seedbed.report.links import samples_link
from seedbed.report.page import assembled, page_header
from seedbed.report.sample_list import SampleBook
from seedbed.report.sample_views import sample_views
from seedbed.report.tables import comparison_table
from seedbed.suite import Metric

Views = Mapping[tuple[str, str, str, str], tuple[str, str]]
"""By suite, benchmark, model and system of a comparison, what its two sides are called in the grid of samples."""


def compare_page(
    names: tuple[str, str],
    comparisons: Sequence[Comparison],
    metrics: Mapping[str, Sequence[Metric]],
    views: Views,
    book: SampleBook,
) -> str:
    """The page of the second against the first. It depends on its arguments alone."""
    title = f"{names[1]} against {names[0]}"
    made = [c for c in comparisons if c.difference is not None]
    sections = {
        "overview": ("Overview", _verdicts(made, metrics, views)),
        "samples": ("Samples", sample_views(book)),
        "comparisons": ("Metrics", _tables(made, metrics)),
    }
    return assembled(f"{title} · Seedbed", page_header(title, sections), sections, book)


def _verdicts(made: Sequence[Comparison], metrics: Mapping[str, Sequence[Metric]], views: Views) -> Iterable[str]:
    lines: list[str] = []
    for c in made:
        if c.metric == metrics[c.suite][0].name or len(made) == 1:
            kind = c.verdict if c.verdict in ("better", "worse") else "open"
            look = _link(c, views)
            lines.append(f'<li class="{kind}">{escape(verdict_line(asdict(c)))} {look}</li>')
    yield f'<div class="card"><ul class="verdicts">{"".join(lines)}</ul></div>'
    note = "Samples of both sides stand below, those that lost most first; a click shows both answers word by word."
    yield element("p", note, **{"class": "note"})


def _link(c: Comparison, views: Views) -> str:
    sides = views.get((c.suite, c.benchmark, c.model, c.label))
    if sides is None:
        return ""
    link = samples_link((c.suite, c.benchmark, c.model), system=sides[1], against=sides[0], metric=c.metric)
    return f'<a href="{escape(link, quote=True)}">samples, worst first</a>'


def _tables(made: Sequence[Comparison], metrics: Mapping[str, Sequence[Metric]]) -> Iterable[str]:
    for suite, own in metrics.items():
        for metric in own:
            table = comparison_table(made, suite, metric, linked=False)
            if table.rows:
                yield text_table(table)
