"""A suite's own part of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Table:
    """A part of a report: rows under headings. Cells are shown as they are; None is shown as "-"."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | int | None]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A part of a report: a drawing as SVG text and, if made with `seedbed.suites.kit.drawing.rendered`, as PNG."""

    title: str
    svg: str
    note: str = ""
    png: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure of a system as the tables of a report have it: over all seeds, with the interval over samples."""

    mean: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class CellResult:
    """A finished cell as a report sees it."""

    benchmark: str
    label: str
    model: str
    seed: int
    metrics: Mapping[str, Any]
    folder: Path
    """Where scores.jsonl and the other files of the cell lie."""
    shown: Mapping[str, Shown] = field(default_factory=dict[str, Shown])
    """What the report says of its system, by metric: who shows a figure again shows it with this interval."""


class MakeReport(Protocol):
    """The suite's own part of a report, from all its finished cells."""

    def __call__(self, cells: Sequence[CellResult]) -> Sequence[Table | Figure]: ...
