"""Small pieces of HTML. Every text that goes in is escaped here, once."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from seedbed.report.links import LinkedTable
from seedbed.report.tables import TextCell, TextTable
from seedbed.suite import Table
from seedbed.suites.kit.drawing import THEMED

_SIZE = re.compile(r'^<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
_SMALL = 400
"""Points: of drawings below that three stand side by side."""
_WIDE = 700
"""Points: of drawings above that each has the width of the page."""
_MANY = 8
"""Columns from which on the first one stays in sight when the table is scrolled."""
_DECIMALS = 4
"""So many are made equal down a column; with more, numbers of different sizes would only get longer."""
_FEW_ROWS = 3
"""Rows that nobody needs a filter for."""
_NUMBER = re.compile(r"[+\-<]?[\d.,]+(?:e[+-]?\d+)?(?: ± [\d.]+)?%?")


def element(tag: str, text: str, **attributes: str) -> str:
    """An element around a text, which is escaped."""
    return f"<{tag}{_attributes(attributes)}>{escape(text)}</{tag}>"


def text_table(table: TextTable) -> str:
    """A table of a summary: best in bold, significant with a dagger, every figure a link to its samples. Its key comes
    first and stays in sight, then what a reader wants to see first."""
    order = _order(table)
    body: list[str] = []
    for row in table.rows:
        cells = [_text_cell(row[at], at, table) for at in order]
        body.append(f"<tr>{''.join(cells)}</tr>")
    heads = [element("th", table.columns[at], scope="col", **{"class": _kind(at, table)}) for at in order]
    return _framed(table.title, heads, body, table.notes)


def _order(table: TextTable) -> list[int]:
    wanted = [table.key, *(table.columns.index(name) for name in table.first)]
    return list(dict.fromkeys([*wanted, *range(len(table.columns))]))


def _kind(at: int, table: TextTable) -> str:
    return "key" if at == table.key else "num" if at >= table.n_names and table.columns[at] != "verdict" else ""


def _text_cell(cell: TextCell, at: int, table: TextTable) -> str:
    shown = escape(cell.text)
    shown = f"<b>{shown}</b>" if cell.best else shown
    shown += "<sup>†</sup>" if cell.significant else ""
    if cell.link and cell.text != "-":
        shown = f'<a href="{escape(cell.link, quote=True)}">{shown}</a>'
    beside = f" <small>{escape(' '.join(cell.beside))}</small>" if cell.beside else ""
    return f"<td{_attributes({'class': _verdict(cell.text) or _kind(at, table)})}>{shown}{beside}</td>"


def plain_table(table: Table, *, wide: Sequence[str] = ()) -> str:
    """A table of texts and numbers; None is shown as "-". Columns named in `wide` may wrap. Without rows, none."""
    if not table.rows:
        return ""
    sticky = len(table.columns) > _MANY
    links = table.links if isinstance(table, LinkedTable) else {}
    shown = [_column([row[i] for row in table.rows]) for i in range(len(table.columns))]
    kinds = [
        "wide" if column in wide else "num" if numeric else "key" if sticky and i == 0 else ""
        for i, (column, (numeric, _)) in enumerate(zip(table.columns, shown, strict=True))
    ]
    body: list[str] = []
    for number in range(len(table.rows)):
        cells = [
            _cell(texts[number], kind, links.get((number, i), ""))
            for i, (kind, (_, texts)) in enumerate(zip(kinds, shown, strict=True))
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    heads = [
        element("th", column, scope="col", **{"class": "" if kind == "wide" else kind})
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    return _framed(table.title, heads, body, [table.note] if table.note else [])


def picture(title: str, svg: str, note: str, link: str) -> str:
    """A drawing as an image: nothing inside an image can run, whatever text found its way into it."""
    packed = base64.b64encode(svg.encode()).decode()
    lines = "\n".join(packed[at : at + 15] for at in range(0, len(packed), 15))
    size = _SIZE.search(svg)
    # A drawing that knows nothing of themes is shown on paper.
    wide = float(size[1]) if size else _SMALL
    names = ["small"] * (wide < _SMALL) + ["wide"] * (wide > _WIDE) + ["paper"] * (THEMED not in svg)
    kind = f' class="{" ".join(names)}"' if names else ""
    # With its size known, a drawing that loads late does not push away what is being read.
    room = f' width="{float(size[1]):.0f}" height="{float(size[2]):.0f}"' if size else ""
    return (
        f'<figure{kind}><img alt="{escape(title, quote=True)}" loading="lazy"{room} '
        f'src="data:image/svg+xml;base64,{lines}">'
        f"<figcaption><b>{escape(title)}</b> {escape(note)} "
        f'<a href="plots/{escape(link, quote=True)}.svg">SVG</a></figcaption></figure>'
    )


def embedded(name: str, data: Any) -> str:
    """Data for the page's script. "<" and "&" are written as escapes of JSON, so that no text can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f'<script type="application/json" id="{name}">{text}</script>'


def read_embedded(page: str, name: str) -> Any:
    """The data of a page, read back."""
    opening = f'<script type="application/json" id="{name}">'
    start = page.index(opening) + len(opening)
    return json.loads(page[start : page.index("</script>", start)])


def section(name: str, title: str, parts: Iterable[str]) -> str:
    return f'<section id="{name}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def _framed(title: str, heads: Sequence[str], body: Sequence[str], notes: Sequence[str]) -> str:
    name = escape(title, quote=True)
    search = (
        '<input class="filter" type="search" placeholder="filter: words, or F1 > 0.6" '
        f'aria-label="filter the rows of {name}">'
    )
    return (
        f'<div class="table"><h3>{escape(title)}</h3>{search if len(body) > _FEW_ROWS else ""}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="sortable"><thead><tr>{"".join(heads)}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        f"{_notes(notes)}</div>"
    )


def _notes(notes: Sequence[str]) -> str:
    """The first in sight; how the rest is to be read, for who asks."""
    texts = [element("p", note, **{"class": "note"}) for note in notes]
    if len(texts) < 2:
        return "".join(texts)
    return f'<details class="notes"><summary>how to read this table</summary>{"".join(texts)}</details>'


def _column(values: Sequence[str | float | int | None]) -> tuple[bool, list[str]]:
    """Whether all of a column are numbers; how they are shown. Decimals stand below each other: where one number has
    three, 0.5 is 0.500."""
    texts = ["-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
    numeric = all(value is None or _NUMBER.fullmatch(text) for value, text in zip(values, texts, strict=True))
    places = max((len(text.partition(".")[2]) for text in texts), default=0)
    if numeric and places <= _DECIMALS and not any("e" in text for text in texts):
        padded = zip(values, texts, strict=True)
        texts = [f"{value:.{places}f}" if isinstance(value, float) else text for value, text in padded]
    return numeric, texts


def _cell(text: str, kind: str, link: str) -> str:
    shown = escape(text)
    if link and text != "-":
        shown = f'<a href="{escape(link, quote=True)}">{shown}</a>'
    return f"<td{_attributes({'class': kind or _verdict(text)})}>{shown}</td>"


def _verdict(text: str) -> str:
    """The class of a cell that says which is better; empty for any other."""
    word = text.partition(" (")[0]
    return word if word in ("better", "worse") else ""


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value, quote=True)}"' for name, value in attributes.items() if value)
