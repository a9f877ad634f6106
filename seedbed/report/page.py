"""report.html: a page that needs nothing else but, where samples are many, the packs of them beside it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from seedbed.analysis.results import SIMULATED_NOTE, Summary, as_data
from seedbed.report.html import element, embedded, picture, plain_table, section, text_table
from seedbed.report.judge_section import judge_section
from seedbed.report.links import LinkedTable, samples_link
from seedbed.report.made_with import made_with
from seedbed.report.overview import overview, own_parts
from seedbed.report.report_inputs import Part, ReportInputs, file_name
from seedbed.report.sample_list import STATES, SampleBook
from seedbed.report.sample_views import sample_data, sample_views
from seedbed.report.tables import answerer_table, comparison_table, cost_table, suite_table
from seedbed.suite import Table
from seedbed.suites.kit.outcomes import TRUNCATED
from seedbed.sweep.registry import get_suite

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = ("base.js", "tables.js", "packs.js", "grid.js", "diff.js", "sample.js")
"""In this order they make the one script of the page."""


def page(
    summary: Summary, inputs: ReportInputs, made: Mapping[str, Sequence[Part]], manifest: Mapping[str, Any]
) -> str:
    """The whole report. It depends on its arguments alone, so that writing it again gives the same bytes."""
    sections = {
        "overview": ("Overview", overview(summary, inputs, made, manifest)),
        "tables": ("Tables", _tables(summary)),
        "comparisons": ("Against the baseline", _comparisons(summary)),
        **judge_section(summary),
        "plots": ("Plots and the suites' own tables", _parts(made)),
        "samples": ("Samples", sample_views(inputs.book)),
        "costs": ("Calls and costs", _costs(summary)),
        "failures": ("Failures", _failures(summary, inputs)),
        "manifest": ("How it was made", made_with(manifest, inputs)),
    }
    header = page_header(summary.sweep, sections, SIMULATED_NOTE if summary.simulated else "")
    data = embedded("figures", as_data(summary))
    return assembled(f"{summary.sweep} · Seedbed report", header, sections, inputs.book, data)


def assembled(
    title: str, header: str, sections: Mapping[str, tuple[str, Iterable[str]]], book: SampleBook, data: str = ""
) -> str:
    """A page of sections, one of them the samples, with all it needs."""
    return "".join(
        [
            *_head(title),
            header,
            "<main>",
            *(section(name, heading, parts) for name, (heading, parts) in sections.items()),
            "</main>",
            data,
            *sample_data(book),
            f"<script>{_script()}</script></body></html>\n",
        ]
    )


def _script() -> str:
    parts = "".join((_ASSETS / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _head(title: str) -> Iterable[str]:
    css = (_ASSETS / "report.css").read_text(encoding="utf-8")
    # Only this very script may run; a script that slipped into the page some other way would be refused. Packs of
    # samples beside the page are style sheets: they are data, and nothing in them can run.
    allowed = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline' 'self'; script-src 'sha256-{allowed}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=True)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title><style>{css}</style></head><body>"


def page_header(title: str, sections: Iterable[str], banner: str = "") -> str:
    links = "".join(f'<a href="#{name}">{name}</a>' for name in sections)
    told = element("div", banner, **{"class": "banner"}) if banner else ""
    button = '<span class="spacer"></span><button id="theme" type="button">light / dark</button>'
    return f"<header>{element('h1', title)}{button}</header>{told}<nav>{links}</nav>"


def _tables(summary: Summary) -> Iterable[str]:
    return (text_table(suite_table(summary, suite)) for suite in dict.fromkeys(row.suite for row in summary.rows))


def _comparisons(summary: Summary) -> Iterable[str]:
    for suite in dict.fromkeys(c.suite for c in summary.comparisons):
        yield element("h3", get_suite(suite).title)
        for place, metric in enumerate(summary.metrics[suite]):
            if not any(c.difference is not None for c in summary.comparisons if c.metric == metric.name):
                continue
            table = text_table(comparison_table(summary.comparisons, suite, metric))
            yield table if place == 0 else f"<details><summary>{escape(metric.label)}</summary>{table}</details>"


def _parts(made: Mapping[str, Sequence[Part]]) -> Iterable[str]:
    for suite, parts in made.items():
        own = own_parts(parts)
        if own:
            yield element("h3", get_suite(suite).title)
        drawings = [part for part in own if not isinstance(part, Table)]
        shown = (picture(p.title, p.svg, p.note, file_name(suite, p)) for p in drawings)
        if drawings:
            yield f'<div class="plots">{"".join(shown)}</div>'
        yield from (plain_table(part) for part in own if isinstance(part, Table))


def _costs(summary: Summary) -> Iterable[str]:
    columns, rows = cost_table(summary.costs)
    note = (
        "paid: charged now. reused: known from an earlier call, $0. failed and lost attempts are counted, not hidden."
    )
    yield plain_table(Table("By phase, role, model and outcome", columns, rows, note))
    if summary.answerers:
        columns, rows = answerer_table(summary.answerers)
        yield plain_table(Table("Who answered", columns, rows, "As the answers themselves say."))


def _failures(summary: Summary, inputs: ReportInputs) -> Iterable[str]:
    missing = [[m["cell"], m["reason"]] for m in summary.missing]
    counts = inputs.failure_counts.most_common(200)
    if missing:
        yield plain_table(Table("Cells without a result", ["cell", "reason"], missing), wide=["reason"])
    if counts:
        columns = ["suite", "benchmark", "system", "model", "status", "kind", "samples"]
        note = (
            "error and skipped: no score. unreadable: the worst score. truncated: scored, though cut off at max_tokens."
        )
        rows = [[get_suite(key[0]).title, *key[1:], count] for key, count in counts]
        links = {(row, len(columns) - 1): _failed_link(key) for row, (key, _) in enumerate(counts)}
        title = "Samples that are not answered and scored in full, by kind"
        yield plain_table(LinkedTable(title, columns, rows, note, links))
        columns = ["cell", "sample", "status", "reason"]
        links = {(row, 1): link for row, link in enumerate(inputs.failure_links[:500])}
        listed = LinkedTable("One by one (at most 500)", columns, inputs.failures[:500], links=links)
        yield plain_table(listed, wide=["reason"])
    if not missing and not counts:
        yield element("p", "None: every cell has a result and every sample an answer and a score.")


def _failed_link(key: tuple[str, ...]) -> str:
    suite, benchmark, label, model, status, kind = key
    known = {"state": status, "kind": kind if status != TRUNCATED else ""} if status in STATES else {}
    return samples_link((suite, benchmark, model), system=label, **known)
