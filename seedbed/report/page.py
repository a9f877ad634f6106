"""report.html: one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from seedbed.analysis.results import SIMULATED_NOTE, Summary, as_data
from seedbed.report.canvas import NO_CJK_FONT
from seedbed.report.html import element, embedded, picture, plain_table, section, text_table
from seedbed.report.report_inputs import Part, ReportInputs, file_name
from seedbed.report.sample_list import STATES, SampleBook
from seedbed.report.tables import (
    answerer_table,
    comparison_table,
    cost_table,
    dollars,
    number,
    p_value,
    suite_table,
    verdict_text,
)
from seedbed.suite import Table
from seedbed.sweep.registry import get_suite

_ASSETS = Path(__file__).parent / "assets"
_SECTIONS = ("overview", "tables", "comparisons", "plots", "costs", "failures", "samples", "manifest")
_FILTERS = {"system": "systems", "benchmark": "benchmarks", "model": "models", "seed": "seeds", "suite": "suites"}


def page(
    summary: Summary, inputs: ReportInputs, made: Mapping[str, Sequence[Part]], manifest: Mapping[str, Any]
) -> str:
    """The whole report. It depends on its arguments alone, so that writing it again gives the same bytes."""
    script, css = ((_ASSETS / name).read_text(encoding="utf-8") for name in ("report.js", "report.css"))
    # Only this very script may run; a script that slipped into the page some other way would be refused.
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'; "
        "base-uri 'none'; form-action 'none'"
    )
    body = [
        _header(summary),
        section("overview", "Overview", _overview(summary, inputs)),
        section("tables", "Tables", _tables(summary)),
        section("comparisons", "Against the baseline", _comparisons(summary)),
        section("plots", "Plots and the suites' own tables", _parts(made)),
        section("costs", "Calls and costs", _costs(summary)),
        section("failures", "Failures", _failures(summary, inputs)),
        section("samples", "Samples", _samples(inputs.book)),
        section("manifest", "Manifest", _manifest(manifest, inputs)),
    ]
    return "".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=True)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(summary.sweep)} · Seedbed report</title><style>{css}</style></head><body>",
            body[0],
            "<main>",
            *body[1:],
            "</main>",
            embedded("figures", as_data(summary)),
            embedded("samples-index", inputs.book.index()),
            *(f'<script type="text/plain" id="chunk-{i}">{text}</script>' for i, text in enumerate(inputs.book.chunks)),
            f"<script>{script}</script></body></html>\n",
        ]
    )


def _header(summary: Summary) -> str:
    links = "".join(f'<a href="#{name}">{name}</a>' for name in _SECTIONS)
    banner = element("div", SIMULATED_NOTE, **{"class": "banner"}) if summary.simulated else ""
    button = '<span class="spacer"></span><button id="theme" type="button">light / dark</button>'
    return f"<header>{element('h1', summary.sweep)}{button}</header>{banner}<nav>{links}</nav>"


def _overview(summary: Summary, inputs: ReportInputs) -> Iterable[str]:
    outcomes = {name: sum(row["calls"] for row in summary.costs if row["outcome"] == name)
                for name in ("paid", "reused", "failed", "lost")}  # fmt: skip
    unknown = " + ?" if any(row["calls"] is None for row in summary.costs) else ""
    tiles = {
        "status": summary.status,
        "cells with results": f"{summary.n_cells - len(summary.missing)} of {summary.n_cells}",
        "samples scored": f"{sum(row.n for row in summary.rows):,}",
        "errors / skipped": f"{_count(summary, 'n_errors')} / {_count(summary, 'n_skipped')}",
        "unreadable / truncated": f"{_count(summary, 'n_unreadable')} / {_count(summary, 'n_truncated')}",
        "paid": f"${dollars(_total(summary, 'spent_usd'))}",
        "as if fresh": f"${dollars(_total(summary, 'list_usd'))}",
        "calls paid / reused": f"{outcomes['paid']:,}{unknown} / {outcomes['reused']:,}",
        "calls failed / lost": f"{outcomes['failed']:,} / {outcomes['lost']:,}",
    }
    shown = (f'<div class="tile">{element("b", text)}{element("span", name)}</div>' for name, text in tiles.items())
    yield f'<div class="tiles">{"".join(shown)}</div>'
    yield from (element("p", text, **{"class": "note warning"}) for text in summary.notes)
    firsts = {suite: summary.metrics[suite][0].name for suite in inputs.cells}
    verdicts = [[c.suite, c.benchmark, c.model, c.metric, c.label, c.baseline,
                 number(c.difference, 3, signed=True), p_value(c.p_holm), verdict_text(c)]
                for c in summary.comparisons if c.metric == firsts[c.suite]]  # fmt: skip
    columns = ["suite", "benchmark", "model", "metric", "system", "baseline", "difference", "p (Holm)", "verdict"]
    if verdicts:
        yield plain_table(Table("Verdicts in each suite's first metric", columns, verdicts, _verdict_note(summary)))


def _verdict_note(summary: Summary) -> str:
    return (
        f"no difference: the 95% interval lies within ±{summary.margin:g} (of the metric's range, or of the "
        "baseline's mean). too small to tell: neither significant nor within; `detectable` is what this many samples "
        "can show. too many missing: what has no answer could turn the verdict."
    )


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
        yield element("h3", get_suite(suite).title)
        drawings = [part for part in parts if not isinstance(part, Table)]
        shown = (picture(p.title, p.svg, p.note, file_name(suite, p)) for p in drawings)
        yield f'<div class="plots">{"".join(shown)}</div>'
        yield from (plain_table(part) for part in parts if isinstance(part, Table))


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
    counts = [[*key, count] for key, count in inputs.failure_counts.most_common(200)]
    if missing:
        yield plain_table(Table("Cells without a result", ["cell", "reason"], missing), wide=["reason"])
    if counts:
        columns = ["suite", "benchmark", "system", "model", "status", "kind", "samples"]
        note = (
            "error and skipped: no score. unreadable: the worst score. truncated: scored, though cut off at max_tokens."
        )
        yield plain_table(Table("Samples that are not answered and scored in full, by kind", columns, counts, note))
        columns = ["cell", "sample", "status", "reason"]
        listed = inputs.failures[:500]
        yield plain_table(Table("One by one (at most 500)", columns, listed), wide=["reason"])
    if not missing and not counts:
        yield element("p", "None: every cell has a result and every sample an answer and a score.")


def _samples(book: SampleBook) -> Iterable[str]:
    boxes = "".join(f'<select id="by-{name}" data-plural="{plural}"></select>' for name, plural in _FILTERS.items())
    states = "".join(f'<option value="{i}">{name}</option>' for i, name in enumerate(STATES))
    heads = {"score": "score", "sample": "sample", "system": "system", "seed": "seed"}
    titles = "".join(f'<span data-key="{key}">{text}</span>' for key, text in heads.items())
    if len(book.lines) < book.n_samples:
        note = (
            f"{len(book.lines):,} of {book.n_samples:,} samples are in this file, spread evenly; `seedbed export` "
            "writes them all, `seedbed report --samples N` puts more in here."
        )
        yield element("p", note, **{"class": "note"})
    yield (
        '<div class="bar"><input id="search" type="search" placeholder="search id, question, answer, gold" '
        'aria-label="search samples"><label><input id="deep" type="checkbox"> also in prompts and details</label>'
        f'{boxes}<select id="by-status"><option value="">any status</option>{states}</select>'
        '<span id="count"></span></div><div class="browser"><div class="list" id="list">'
        f'<div class="head">{titles}<span>asked</span><span>answer</span>'
        '<span>gold</span></div><div class="space"></div></div><div class="detail" id="detail">'
        '<p class="note">Choose a sample to see what was asked, sent, answered and scored.</p></div></div>'
    )


def _manifest(manifest: Mapping[str, Any], inputs: ReportInputs) -> Iterable[str]:
    yield f"<pre>{escape(json.dumps(manifest, ensure_ascii=False, indent=2))}</pre>"
    config = json.dumps(inputs.plan.config.model_dump(mode="json"), ensure_ascii=False, indent=2)
    yield f"<details><summary>the sweep's config</summary><pre>{escape(config)}</pre></details>"
    if not manifest["cjk_font"]:
        yield element("p", NO_CJK_FONT, **{"class": "note"})


def _count(summary: Summary, name: str) -> str:
    return f"{sum(getattr(row, name) for row in summary.rows):,}"


def _total(summary: Summary, name: str) -> float | None:
    values = [row[name] for row in summary.costs if row["calls"] != 0]
    return None if any(value is None for value in values) else sum(values)
