"""Lines and rows that fit a screen of any width; no figure is torn."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence

_BETWEEN, _HARD = " · ", "\u00a0"
_GAP, _INDENT = "  ", "    "


def folded(line: str, width: int, indent: str = "") -> str:
    """A line as wide as the screen. One of several parts breaks between two of them, never within a figure."""
    if _BETWEEN in line:
        line = line.replace(" ", _HARD).replace(f"{_HARD}·{_HARD}", f"{_HARD}· ")
    folds = textwrap.TextWrapper(width, indent, f"{indent}  ", break_long_words=False, break_on_hyphens=False)
    return folds.fill(line).replace(_HARD, " ")


def screen_width() -> int:
    """Columns of the terminal; without one, lines need not break."""
    return shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 10_000


def aligned(rows: Sequence[Sequence[str]], width: int, right: Collection[int] = ()) -> Iterator[str]:
    """A line a row. Where the screen is narrower, each row goes on in lines below its first, all of them broken between
    the same columns: no figure is torn. Columns named in `right` end below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    parts = _parts(widths, width)
    for row in rows:
        shown = [t.rjust(w) if i in right else t.ljust(w) for i, (t, w) in enumerate(zip(row, widths, strict=True))]
        for number, part in enumerate(parts):
            yield f"{_INDENT if number else ''}{_GAP.join(shown[i] for i in part)}".rstrip()


def _parts(widths: Sequence[int], width: int) -> list[list[int]]:
    """Which columns stand in the first line of a row, in its second, and so on."""
    parts: list[list[int]] = [[]]
    room = width
    for column, wide in enumerate(widths):
        needed = wide + len(_GAP) * bool(parts[-1])
        if needed > room and parts[-1]:
            parts.append([])
            needed, room = wide, width - len(_INDENT)
        parts[-1].append(column)
        room -= needed
    return parts
