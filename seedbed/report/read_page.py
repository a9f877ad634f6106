"""report.html read back: what the eye sees in it, part by part, and the rest between the parts."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise
from typing import Any

_SECTION = re.compile(r'<section id="([^"]*)">')
_TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.DOTALL)
_HEADING = re.compile(r"<h3>(.*?)</h3>|<summary>(.*?)</summary>", re.DOTALL)
_ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t[hd]\b([^>]*)>(.*?)</t[hd]>", re.DOTALL)
_DRAWING = re.compile(r'(<img alt="([^"]*)"[^>]*?src=")data:image/svg\+xml;base64,([^"]*)"')
_DATA = re.compile(r'<script type="application/json" id="([^"]*)">(.*?)</script>', re.DOTALL)
_CHUNK = re.compile(r'<script type="text/plain" id="chunk-(\d+)">(.*?)</script>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_MAX_CHUNK = 200_000_000
"""Bytes that a pack of samples may hold: what a page can have by far, and no more than memory takes."""


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
    drawings: dict[str, str] = field(default_factory=dict[str, str])
    """SVG text."""
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    samples: list[Any] = field(default_factory=list[Any])
    rest: dict[str, str] = field(default_factory=dict[str, str])
    """By section: everything else, each part replaced by its name."""


def read_page(text: str) -> PageParts:
    """The parts of a page; a ValueError where something is packed in no way that the page's script could read."""
    found = PageParts()
    text = _DATA.sub(lambda m: _taken(found.data, m[1], json.loads(m[2])), text)
    text = _CHUNK.sub(lambda m: _pack(found, m), text)
    places = [0, *(match.start() for match in _SECTION.finditer(text)), len(text)]
    for start, end in pairwise(places):
        part = text[start:end]
        named = _SECTION.match(part)
        section = named[1] if named else "header"
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


def _drawing(found: PageParts, section: str, match: re.Match[str]) -> str:
    svg = base64.b64decode("".join(match[3].split()), validate=True).decode()
    return _taken(found.drawings, f"{section}, drawing {unescape(match[2])!r}", svg)


def _pack(found: PageParts, match: re.Match[str]) -> str:
    packed = base64.b64decode("".join(match[2].split()), validate=True)
    opened = zlib.decompressobj().decompress(packed, _MAX_CHUNK)
    found.samples += json.loads(opened)
    return f"{{samples {match[1]}}}"


def _taken(into: dict[str, Any], name: str, value: Any) -> str:
    """Keep a part under its name, or the name with a number where it is taken; returns the mark for its place."""
    own, number = name, 1
    while own in into:
        number += 1
        own = f"{name} ({number})"
    into[own] = value
    return f"{{{own}}}"
