"""Small pieces of HTML. Every text that goes in is escaped here, once."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from seedbed.report.tables import TextTable
from seedbed.suite import Table

_SIZE = re.compile(r'^<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
_SMALL = 400
"""Points: of drawings below that three stand side by side."""
_MANY = 8
"""Columns from which on the first one stays in sight when the table is scrolled."""
_NUMBER = re.compile(r"[+\-<]?[\d.,]+(?:e[+-]?\d+)?(?: ± [\d.]+)?%?")


def element(tag: str, text: str, **attributes: str) -> str:
    """An element around a text, which is escaped."""
    return f"<{tag}{_attributes(attributes)}>{escape(text)}</{tag}>"


def text_table(table: TextTable) -> str:
    """A table of a summary: best in bold, significant with a dagger."""
    body: list[str] = []
    key = table.key
    for row in table.rows:
        cells: list[str] = []
        for place, cell in enumerate(row):
            shown = escape(cell.text)
            shown = f"<b>{shown}</b>" if cell.best else shown
            mark = "<sup>†</sup>" if cell.significant else ""
            kind = _verdict(cell.text) or ("num" if place >= table.n_names else "key" if place == key else "")
            beside = f" <small>{escape(' '.join(cell.beside))}</small>" if cell.beside else ""
            cells.append(f"<td{_attributes({'class': kind})}>{shown}{mark}{beside}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    heads = [
        element("th", column, **{"class": "num" if i >= table.n_names else "key" if i == key else ""})
        for i, column in enumerate(table.columns)
    ]
    return _framed(table.title, heads, body, table.notes)


def plain_table(table: Table, *, wide: Sequence[str] = ()) -> str:
    """A table of texts and numbers; None is shown as "-". Columns named in `wide` may wrap."""
    sticky = len(table.columns) > _MANY
    body: list[str] = []
    for row in table.rows:
        cells = [_cell(row[i], column in wide, sticky and i == 0) for i, column in enumerate(table.columns)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    numeric = [
        column not in wide and all(row[i] is None or _NUMBER.fullmatch(str(row[i])) for row in table.rows)
        for i, column in enumerate(table.columns)
    ]
    heads = [
        element("th", str(column), **{"class": "num" if right else "key" if sticky and i == 0 else ""})
        for i, (column, right) in enumerate(zip(table.columns, numeric, strict=True))
    ]
    return _framed(table.title, heads, body, [table.note] if table.note else [])


def picture(title: str, svg: str, note: str, link: str) -> str:
    """A drawing as an image: nothing inside an image can run, whatever text found its way into it."""
    packed = base64.b64encode(svg.encode()).decode()
    lines = "\n".join(packed[at : at + 15] for at in range(0, len(packed), 15))
    size = _SIZE.search(svg)
    kind = ' class="small"' if size and float(size[1]) < _SMALL else ""
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
    search = '<input class="filter" type="search" placeholder="filter rows" aria-label="filter rows">'
    return (
        f'<div class="table"><h3>{escape(title)}</h3>{search if len(body) > 5 else ""}<div class="scroll">'
        f'<table class="sortable"><thead><tr>{"".join(heads)}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        f"{''.join(element('p', note, **{'class': 'note'}) for note in notes)}</div>"
    )


def _cell(value: str | float | int | None, wide: bool, key: bool) -> str:
    shown = "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    numeric = value is None or _NUMBER.fullmatch(shown)
    kind = "wide" if wide else "num" if numeric else "key" if key else _verdict(shown)
    return f"<td{_attributes({'class': kind})}>{escape(shown)}</td>"


def _verdict(text: str) -> str:
    """The class of a cell that says which is better; empty for any other."""
    return text if text in ("better", "worse") else ""


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value, quote=True)}"' for name, value in attributes.items() if value)
