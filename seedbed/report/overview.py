"""The first screen of a report: what was run, what came of it in words, and drawings that answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from typing import Any

from seedbed.analysis.results import Comparison, Summary
from seedbed.report.canvas import Plot
from seedbed.report.console import verdict_line
from seedbed.report.html import element, picture
from seedbed.report.links import samples_link
from seedbed.report.report_inputs import Part, ReportInputs, file_name
from seedbed.report.tables import dollars
from seedbed.suite import Table
from seedbed.sweep.registry import get_suite

_MINUTE, _HOUR = 60, 3600
_SENTENCES = 8
"""Verdicts of a suite on the first screen; the others fold away."""


_SAMPLES = {
    "n": "scored", "n_errors": "errors", "n_skipped": "skipped", "n_unreadable": "unreadable",
    "n_truncated": "truncated",
}  # fmt: skip
"""What is counted of a row of the summary, and how it is said."""


def overview(
    summary: Summary, inputs: ReportInputs, made: Mapping[str, Sequence[Part]], about: Mapping[str, Any]
) -> Iterable[str]:
    """Facts, notes, then a card a suite."""
    yield _facts(summary, inputs, about)
    yield from (element("p", text, **{"class": "note warning"}) for text in summary.notes)
    for suite, parts in made.items():
        first = summary.metrics[suite][0].name
        own = [c for c in summary.comparisons if c.suite == suite and c.metric == first]
        leads = [part for part in parts if isinstance(part, Plot) and part.lead]
        shown = "".join(picture(p.title, p.svg, p.note, file_name(suite, p)) for p in leads)
        yield (
            f'<div class="card">{element("h3", get_suite(suite).title)}{_verdicts(own)}'
            f'<div class="plots">{shown}</div></div>'
        )
    if summary.comparisons:
        yield element("p", _reading(summary), **{"class": "note"})


def _facts(summary: Summary, inputs: ReportInputs, about: Mapping[str, Any]) -> str:
    outcomes = {name: sum(row["calls"] for row in summary.costs if row["outcome"] == name)
                for name in ("paid", "reused", "failed", "lost")}  # fmt: skip
    unknown = " + ?" if any(row["calls"] is None for row in summary.costs) else ""
    began = started(about["run"])
    facts = {
        "status": f"{summary.status}: {summary.n_cells - len(summary.missing)} of {summary.n_cells} cells",
        "started": _moment(began),
        "calls made": _span(about["calls"], began),
        "models": ", ".join(_models(inputs)),
        "seeds": ", ".join(map(str, dict.fromkeys(cell.seed for cell in inputs.plan.cells))),
        "samples": ", ".join(f"{_count(summary, field)} {name}" for field, name in _SAMPLES.items()),
        "cost": f"${dollars(_total(summary, 'spent_usd'))} paid, ${dollars(_total(summary, 'list_usd'))} as if fresh",
        "calls": f"{outcomes['paid']:,}{unknown} paid, {outcomes['reused']:,} reused, {outcomes['failed']:,} failed, "
        f"{outcomes['lost']:,} lost",
    }
    shown = (f"<div>{element('dt', name)}{element('dd', text)}</div>" for name, text in facts.items())
    return f'<dl class="facts">{"".join(shown)}</dl>'


def _models(inputs: ReportInputs) -> Iterable[str]:
    """Names of the config with what they stand for; those that only play a role say which."""
    config = inputs.plan.config
    used = {cell.model for cell in inputs.plan.cells}
    for name, model in config.models.items():
        roles = [role for role, player in config.roles.items() if player == name]
        if name in used or roles:
            told = f" ({', '.join(roles)})" if roles and name not in used else ""
            yield f"{name} = {model.model}{told}"


def _verdicts(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    lines = [_sentence(c) for c in comparisons]
    text = f'<ul class="verdicts">{"".join(lines[:_SENTENCES])}</ul>'
    if len(lines) > _SENTENCES:
        rest = f'<ul class="verdicts">{"".join(lines[_SENTENCES:])}</ul>'
        text += f"<details><summary>{len(lines) - _SENTENCES} more</summary>{rest}</details>"
    return text


def _sentence(c: Comparison) -> str:
    kind = c.verdict if c.verdict in ("better", "worse") else "open"
    link = samples_link((c.suite, c.benchmark, c.model), system=c.label, against=c.baseline, metric=c.metric)
    look = f'<a href="{escape(link, quote=True)}">samples</a>'
    return f'<li class="{kind}">{escape(verdict_line(asdict(c)))} {look}</li>'


def _reading(summary: Summary) -> str:
    return (
        f"no difference: the 95% interval lies within ±{summary.margin:g} (of the metric's range, or of the "
        "baseline's mean). too small to tell: neither significant nor within; `detectable` is what this many samples "
        "can show. too many missing: what has no answer could turn the verdict."
    )


def started(run: str) -> datetime | None:
    """When a run began, by the name of its folder."""
    try:
        return datetime.strptime(run.partition("-")[0], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _moment(time: datetime | None) -> str:
    return "-" if time is None else f"{time:%d %B %Y, %H:%M} UTC"


def _span(calls: Sequence[float] | None, began: datetime | None) -> str:
    """From the first call to the end of the last one, over all runs that the figures rest on; with the days where they
    are not the one on which the run began."""
    if not calls:
        return "none"
    moments = [datetime.fromtimestamp(at, UTC) for at in calls]
    same = began is not None and all(moment.date() == began.date() for moment in moments)
    first, last = (f"{moment:%H:%M:%S}" if same else f"{moment:%d %B %Y, %H:%M:%S}" for moment in moments)
    return f"in {duration(calls[1] - calls[0])}, {first} to {last}"


def duration(seconds: float) -> str:
    """In the two largest units that say something."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def _count(summary: Summary, name: str) -> str:
    return f"{sum(getattr(row, name) for row in summary.rows):,}"


def _total(summary: Summary, name: str) -> float | None:
    values = [row[name] for row in summary.costs if row["calls"] != 0]
    return None if any(value is None for value in values) else sum(values)


def own_parts(parts: Sequence[Part]) -> list[Part]:
    """What a suite shows beyond its first screen: no drawing twice, no table without rows."""
    return [part for part in parts if (part.rows if isinstance(part, Table) else not getattr(part, "lead", False))]
