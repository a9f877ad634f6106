"""Compares a page of a report with the same page rendered again, in the words of who looks at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.phases.verification.checker import STORED, Checker, same_text
from seedbed.report.read_page import PageCell, PageParts, read_page

_AROUND = 60
_OF_CASES = ("plots", "samples")
"""Sections that show the cases themselves."""


def check_page(
    check: Checker, file: Path, published: str, rendered: str, *, with_cases: bool, drawn_elsewhere: str | None
) -> None:
    """Tables cell by cell, drawings, embedded figures, every sample, and all text between them. Without the cases at
    hand, what is made from them is left out; so are drawings that differ where there is a reason for it."""
    own, other = read_page(published), read_page(rendered)
    _tables(check, file, own, other, with_cases)
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
    for name in dict.fromkeys([*other.data, *own.data]):
        if name == "samples-index" and not with_cases:
            continue
        if name not in own.data or name not in other.data:
            check.differ(file, f"the data {name!r} is {'missing' if name in other.data else 'not expected'}")
        else:
            check.compare(file, own.data[name], other.data[name], name)
    if not with_cases:
        return
    listed: Any = other.data.get("samples-index", {}).get("rows", [])
    if len(own.samples) != len(other.samples):
        check.differ(file, f"samples has {len(own.samples)} entries, {STORED} {len(other.samples)}")
    for place, (shown, right) in enumerate(zip(own.samples, other.samples, strict=False)):
        if shown != right:
            name = listed[place][1] if place < len(listed) else place
            check.compare(file, shown, right, f"sample {name}")


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
