"""report.html read back: what the eye sees in it, part by part, and the rest between the parts."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise
from typing import Any

from seedbed.report.sample_packs import unpacked

_SECTION = re.compile(r'<section id="([^"]*)">')
_TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.DOTALL)
_HEADING = re.compile(r"<h3>(.*?)</h3>|<summary>(.*?)</summary>", re.DOTALL)
_ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t[hd]\b([^>]*)>(.*?)</t[hd]>", re.DOTALL)
_DRAWING = re.compile(r'(<img alt="([^"]*)"[^>]*?src=")data:image/svg\+xml;base64,([^"]*)"')
_DATA = re.compile(r'<script type="application/json" id="([^"]*)">(.*?)</script>', re.DOTALL)
_PACK = re.compile(r'<script type="text/plain" id="(samples-index|pack-\d+)">(.*?)</script>', re.DOTALL)
_FACT = re.compile(r"<dt>(.*?)</dt><dd>(.*?)</dd>", re.DOTALL)
_SENTENCE = re.compile(r"<li\b([^>]*)>(.*?)</li>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell of a table: its attributes, which give it its colour, and its markup, which tells bold and daggers."""

    attributes: str
    markup: str

    @property
    def text(self) -> str:
        return visible(self.markup)


@dataclass
class PageParts:
    """Each part under the name a reader would look for it by."""

    tables: dict[str, list[list[PageCell]]] = field(default_factory=dict[str, list[list[PageCell]]])
    """Rows, the headings first."""
    lines: dict[str, str] = field(default_factory=dict[str, str])
    """Facts and sentences, with the markup that gives them their colour and leads to their samples."""
    drawings: dict[str, str] = field(default_factory=dict[str, str])
    """SVG text."""
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    packs: dict[str, Any] = field(default_factory=dict[str, Any])
    """What is compressed: the index of samples, and the packs inside the page."""
    rest: dict[str, str] = field(default_factory=dict[str, str])
    """By section: everything else, each part replaced by its name."""


def read_page(text: str) -> PageParts:
    """The parts of a page; a ValueError where something is packed in no way that the page's script could read."""
    found = PageParts()
    text = _DATA.sub(lambda m: _taken(found.data, m[1], json.loads(m[2])), text)
    # They leave no mark: how many there are depends on cases, which who verifies may not have.
    text = _PACK.sub(lambda m: _taken(found.packs, m[1], unpacked(m[2])) and "", text)
    places = [0, *(match.start() for match in _SECTION.finditer(text)), len(text)]
    for start, end in pairwise(places):
        part = text[start:end]
        named = _SECTION.match(part)
        section = named[1] if named else "header"
        part = _lines(found, section, part)
        part = _DRAWING.sub(lambda m: m[1] + _drawing(found, section, m) + '"', part)  # noqa: B023
        found.rest[section] = found.rest.get(section, "") + _TABLE.sub(_tables(found, section, part), part)
    return found


def visible(markup: str) -> str:
    """What a reader sees of a piece of HTML, bold as stars."""
    return " ".join(unescape(_TAG.sub("", re.sub(r"</?b>", "**", markup))).split())


def _tables(found: PageParts, section: str, part: str) -> Callable[[re.Match[str]], str]:
    headings = [(match.start(), visible(match[1] or match[2])) for match in _HEADING.finditer(part)]

    def replaced(match: re.Match[str]) -> str:
        title = next((name for at, name in reversed(headings) if at < match.start()), "without a title")
        rows = [
            [PageCell(attributes, inner) for attributes, inner in _CELL.findall(row)] for row in _ROW.findall(match[0])
        ]
        return _taken(found.tables, f"{section}, table {title!r}", rows)

    return replaced


def _lines(found: PageParts, section: str, part: str) -> str:
    part = _FACT.sub(lambda m: _taken(found.lines, f"{section}, {visible(m[1])!r}", m[2]), part)
    return _SENTENCE.sub(lambda m: _taken(found.lines, f"{section}, a sentence", f"<li{m[1]}>{m[2]}"), part)


def _drawing(found: PageParts, section: str, match: re.Match[str]) -> str:
    svg = base64.b64decode("".join(match[3].split()), validate=True).decode()
    return _taken(found.drawings, f"{section}, drawing {unescape(match[2])!r}", svg)


def _taken(into: dict[str, Any], name: str, value: Any) -> str:
    """Keep a part under its name, or the name with a number where it is taken; returns the mark for its place."""
    own, number = name, 1
    while own in into:
        number += 1
        own = f"{name} ({number})"
    into[own] = value
    return f"{{{own}}}"
