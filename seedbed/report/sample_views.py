"""The samples in a page: a grid with its filters, the place where one sample is opened, and their data."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from seedbed.report.html import element
from seedbed.report.sample_list import STATES, SampleBook
from seedbed.report.sample_packs import FOLDER, in_lines, packed

_KEYS = "Keys: j and k move, Enter opens, Esc closes, / searches."


def sample_views(book: SampleBook) -> Iterable[str]:
    """The section of the samples."""
    if book.n_shown < book.n_samples:
        note = (
            f"{book.n_shown:,} of {book.n_samples:,} answers are in this report, spread evenly over the samples; "
            "`seedbed export` writes them all, `seedbed report --samples N` puts more in here."
        )
        yield element("p", note, **{"class": "note"})
    if not book.packs.inside:
        yield element(
            "p", f"The texts lie in the folder {FOLDER}/ beside this page: send it along.", **{"class": "note"}
        )
    states = "".join(f"<option>{name}</option>" for name in STATES)
    boxes = {
        "table": "benchmark",
        "metric": "metric",
        "system": "system",
        "against": "against",
        "kind": "kind of failure",
    }
    chosen = {name: f'<label>{told} <select id="by-{name}"></select></label>' for name, told in boxes.items()}
    yield (
        f'<div class="bar">{chosen["table"]}{chosen["metric"]}{chosen["system"]}{chosen["against"]}'
        '<label><input id="differ" type="checkbox"> where they differ</label></div>'
        '<div class="bar"><input id="search" type="search" placeholder="search id, question, answer, gold ( / )" '
        'aria-label="search samples"><label><input id="deep" type="checkbox"> also in prompts and details</label>'
        '<label>score from <input id="from" class="short" inputmode="decimal"></label>'
        '<label>to <input id="to" class="short" inputmode="decimal"></label>'
        f'<label>ended <select id="by-state"><option value="">any way</option>{states}</select></label>'
        f'{chosen["kind"]}<span id="facts" class="bar"></span></div>'
        '<p class="note"><span id="count"></span> <button id="clear" type="button">clear filters</button> '
        f"{_KEYS}</p>"
        '<div class="grid" id="grid" tabindex="0" role="grid" aria-label="samples by system">'
        '<div class="heads" id="heads"></div><div class="space" id="space"></div></div>'
        '<div class="sample" id="sample" role="dialog" aria-label="a sample" tabindex="-1" hidden></div>'
        '<i id="pack"></i>'
    )


def sample_data(book: SampleBook) -> Iterable[str]:
    """The index, and the packs where they are few."""
    index = packed(orjson.dumps(book.index()))
    yield f'<script type="text/plain" id="samples-index">{in_lines(index)}</script>'
    yield from book.packs.in_page()
