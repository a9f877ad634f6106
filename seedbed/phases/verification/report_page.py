"""Compares a page of a report with the same page rendered again, in the words of who looks at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.phases.verification.checker import STORED, Checker, same_text
from seedbed.report.read_page import PageCell, PageParts, read_page, visible

_AROUND = 60
INDEX = "samples-index"
_OF_CASES = ("plots", "samples")
"""Sections that show the cases themselves."""


def check_page(
    check: Checker, file: Path, published: str, rendered: str, *, with_cases: bool, drawn_elsewhere: str | None
) -> None:
    """Tables cell by cell, facts and sentences, drawings, embedded figures, every sample, and all text between them.
    Without the cases at hand, what is made from them is left out; so are drawings that differ where there is a reason
    for it."""
    own, other = read_page(published), read_page(rendered)
    _tables(check, file, own, other, with_cases)
    _lines(check, file, own.lines, other.lines)
    _drawings(check, file, own.drawings, other.drawings, with_cases, drawn_elsewhere)
    _data(check, file, own, other, with_cases)
    for section in dict.fromkeys([*other.rest, *own.rest]):
        if with_cases or section not in _OF_CASES:
            _rest(check, file, section, own.rest.get(section), other.rest.get(section))


def _tables(check: Checker, file: Path, own: PageParts, other: PageParts, with_cases: bool) -> None:
    for name in dict.fromkeys([*other.tables, *own.tables]):
        shown, expected = own.tables.get(name), other.tables.get(name)
        if shown is None:
            check.differ(file, f"{name} is missing")
        elif expected is None:
            if with_cases or not name.startswith(_OF_CASES):
                check.differ(file, f"{name} is not expected")
        else:
            _table(check, file, name, shown, expected)


def _table(
    check: Checker, file: Path, name: str, own: Sequence[Sequence[PageCell]], other: Sequence[Sequence[PageCell]]
) -> None:
    if len(own) != len(other):
        check.differ(file, f"{name} has {len(own) - 1} rows, {STORED} {len(other) - 1}")
    heads = [cell.text for cell in other[0]] if other else []
    for number, (shown, expected) in enumerate(zip(own, other, strict=False)):
        if len(shown) != len(expected):
            check.differ(file, f"{name}, row {number}: has {len(shown)} cells, {STORED} {len(expected)}")
        check.figures += len(expected)
        for head, cell, right in zip(heads, shown, expected, strict=False):
            if cell == right or (cell.attributes == right.attributes and same_text(cell.markup, right.markup)):
                continue
            row = " · ".join(c.text for c in expected[:3])
            seen, given = (
                (cell.text, right.text)
                if cell.text != right.text
                else (f"<{cell.attributes.strip()}> {cell.markup}", f"<{right.attributes.strip()}> {right.markup}")
            )
            check.differ(file, f"{name}, row {number} ({row}), column {head!r} shows {seen!r}, {STORED} {given!r}")


def _lines(check: Checker, file: Path, own: Mapping[str, str], other: Mapping[str, str]) -> None:
    for name in dict.fromkeys([*other, *own]):
        check.figures += 1
        if name not in own or name not in other:
            check.differ(file, f"{name} is {'missing' if name in other else 'not expected'}")
        elif not same_text(own[name], other[name]):
            check.differ(file, f"{name} says {visible(own[name])!r}, {STORED} {visible(other[name])!r}")


def _drawings(
    check: Checker,
    file: Path,
    own: Mapping[str, str],
    other: Mapping[str, str],
    with_cases: bool,
    drawn_elsewhere: str | None,
) -> None:
    for name in dict.fromkeys([*other, *own]):
        if name not in own:
            check.differ(file, f"{name} is missing")
        elif name in other:
            check.figures += 1
            told = other_drawing(own[name], other[name])
            if told is not None and drawn_elsewhere is None:
                check.differ(file, f"{name}: {told}")
        elif with_cases:
            check.differ(file, f"{name} is not expected")


def other_drawing(own: str, other: str) -> str | None:
    """How an SVG differs from the one rendered again, in its first line that does; None where it does not."""
    lines, expected = own.splitlines(), other.splitlines()
    for number, (shown, right) in enumerate(zip(lines, expected, strict=False), start=1):
        if not same_text(shown, right):
            seen, given = around(shown, right)
            return f"line {number} of the SVG has {seen!r}, {STORED} {given!r}"
    if len(lines) != len(expected):
        return f"the SVG has {len(lines)} lines, {STORED} {len(expected)}"
    return None


def _data(check: Checker, file: Path, own: PageParts, other: PageParts, with_cases: bool) -> None:
    packs = (own.packs, other.packs) if with_cases else ({}, {})
    for shown, right in ((own.data, other.data), packs):
        for name in dict.fromkeys([*right, *shown]):
            if name not in shown or name not in right:
                check.differ(file, f"the data {name!r} is {'missing' if name in right else 'not expected'}")
            elif name.startswith("pack-"):
                check_pack(check, file, shown[name], right[name], _samples_of(other.packs.get(INDEX), name))
            else:
                check.compare(file, shown[name], right[name], name)


def check_pack(
    check: Checker, file: Path, own: Sequence[Any], other: Sequence[Any], samples: Mapping[int, str] | None = None
) -> None:
    """A pack of samples, each named by its id where that is known."""
    if len(own) != len(other):
        check.differ(file, f"a pack of samples has {len(own)} entries, {STORED} {len(other)}")
    check.figures += len(other)
    for place, (shown, right) in enumerate(zip(own, other, strict=False)):
        if shown != right:
            check.compare(file, shown, right, f"sample {(samples or {}).get(place, place)}")


def _samples_of(index: Any, pack: str) -> dict[int, str]:
    """By place in a pack, the id of the sample that stands there."""
    number = int(pack.rpartition("-")[2])
    for table in (index or {}).get("tables", ()):
        for starts in (table["details"], table["texts"]):
            for start, own in starts:
                if own == number:
                    return dict(enumerate(table["ids"][start:]))
    return {}


def _rest(check: Checker, file: Path, section: str, own: str | None, other: str | None) -> None:
    if own is None or other is None:
        check.differ(file, f"section {section!r} is {'missing' if own is None else 'not expected'}")
    elif not same_text(own, other):
        seen, given = around(own, other)
        check.differ(file, f"section {section!r} has {seen!r}, {STORED} {given!r}")
    else:
        check.figures += 1


def around(own: str, other: str) -> tuple[str, str]:
    """Two texts near the first place where they part."""
    pairs = enumerate(zip(own, other, strict=False))
    at = next((place for place, (a, b) in pairs if a != b), min(len(own), len(other)))
    start = max(0, at - _AROUND)
    return own[start : at + _AROUND], other[start : at + _AROUND]
