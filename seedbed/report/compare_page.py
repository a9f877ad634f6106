"""compare.html: two sweeps in one page, sample by sample, the worst regressions first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape

from seedbed.analysis.results import SIMULATED_NOTE, Comparison
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


@dataclass(frozen=True, slots=True)
class Compared:
    """A side of the page: what it is called, and the run that its figures come from."""

    name: str
    run: str
    simulated: bool


def compare_page(
    sides: tuple[Compared, Compared],
    comparisons: Sequence[Comparison],
    metrics: Mapping[str, Sequence[Metric]],
    views: Views,
    book: SampleBook,
) -> str:
    """The page of the second against the first. It depends on its arguments alone."""
    title = f"{sides[1].name} against {sides[0].name}"
    made = [c for c in comparisons if c.difference is not None]
    sections = {
        "overview": ("Overview", [*_verdicts(leading(made, metrics), views), *_notes(sides)]),
        "samples": ("Samples", sample_views(book)),
        "comparisons": ("Metrics", _tables(made, metrics)),
    }
    header = page_header(title, sections, SIMULATED_NOTE if any(side.simulated for side in sides) else "")
    return assembled(f"{title} · Seedbed", header, sections, book)


def leading(made: Sequence[Comparison], metrics: Mapping[str, Sequence[Metric]]) -> list[Comparison]:
    """Those in the first metric of their suite, what got worse before the rest, and of each suite what lost most."""
    first = [c for c in made if c.metric == metrics[c.suite][0].name] or made
    suites = list(metrics)

    def place(c: Comparison) -> tuple[int, int, float]:
        better = next(own.higher_is_better for own in metrics[c.suite] if own.name == c.metric)
        gain = 0.0 if better is None or c.difference is None else c.difference if better else -c.difference
        return {"worse": 0, "better": 2}.get(c.verdict, 1), suites.index(c.suite), gain

    return sorted(first, key=place)


def _verdicts(shown: Sequence[Comparison], views: Views) -> Iterable[str]:
    lines: list[str] = []
    for c in shown:
        kind = c.verdict if c.verdict in ("better", "worse") else "open"
        lines.append(f'<li class="{kind}">{escape(verdict_line(asdict(c)))} {_link(c, views)}</li>')
    yield f'<div class="card"><ul class="verdicts">{"".join(lines)}</ul></div>'


def _notes(sides: tuple[Compared, Compared]) -> Iterable[str]:
    """How to read it, and what it is worth: it is no file of either run."""
    runs = " and ".join(dict.fromkeys(f"run {s.run} of {s.name.partition(':')[0]}" for s in reversed(sides)))
    yield from (
        element("p", text, **{"class": "note"})
        for text in (
            "Samples of both sides stand below, those that lost most first; a click shows both answers word by word.",
            f"Made from the stored rows of {runs}. `seedbed verify` checks those rows, not this page, which "
            "`seedbed compare A B --open` writes again to the byte.",
        )
    )


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
