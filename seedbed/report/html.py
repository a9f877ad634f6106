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
_MANY = 8
"""Columns from which on the first one stays in sight when the table is scrolled."""
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
    body: list[str] = []
    for number, row in enumerate(table.rows):
        cells = [
            _cell(row[i], column in wide, sticky and i == 0, links.get((number, i), ""))
            for i, column in enumerate(table.columns)
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    numeric = [
        column not in wide and all(row[i] is None or _NUMBER.fullmatch(str(row[i])) for row in table.rows)
        for i, column in enumerate(table.columns)
    ]
    heads = [
        element("th", str(column), scope="col", **{"class": "num" if right else "key" if sticky and i == 0 else ""})
        for i, (column, right) in enumerate(zip(table.columns, numeric, strict=True))
    ]
    return _framed(table.title, heads, body, [table.note] if table.note else [])


def picture(title: str, svg: str, note: str, link: str) -> str:
    """A drawing as an image: nothing inside an image can run, whatever text found its way into it."""
    packed = base64.b64encode(svg.encode()).decode()
    lines = "\n".join(packed[at : at + 15] for at in range(0, len(packed), 15))
    size = _SIZE.search(svg)
    # A drawing that knows nothing of themes is shown on paper.
    names = ["small"] * bool(size and float(size[1]) < _SMALL) + ["paper"] * (THEMED not in svg)
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


def _cell(value: str | float | int | None, wide: bool, key: bool, link: str) -> str:
    shown = "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    numeric = value is None or _NUMBER.fullmatch(shown)
    kind = "wide" if wide else "num" if numeric else "key" if key else _verdict(shown)
    text = escape(shown)
    if link and value is not None:
        text = f'<a href="{escape(link, quote=True)}">{text}</a>'
    return f"<td{_attributes({'class': kind})}>{text}</td>"


def _verdict(text: str) -> str:
    """The class of a cell that says which is better; empty for any other."""
    word = text.partition(" (")[0]
    return word if word in ("better", "worse") else ""


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value, quote=True)}"' for name, value in attributes.items() if value)
