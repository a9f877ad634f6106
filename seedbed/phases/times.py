"""How long things took goes into files of its own: what a run answered and scored is then the same each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.storage.store import write_jsonl
from seedbed.suite import TIMES

Row = dict[str, Any]


def part_times(rows: Sequence[Row], field: str) -> tuple[list[Row], list[Row]]:
    """The rows without the times in that field of theirs, and the times by sample."""
    plain: list[Row] = []
    times: list[Row] = []
    for row in rows:
        own: Mapping[str, Any] = row.get(field) or {}
        if TIMES in own:
            times.append({"sample_id": row["sample_id"], "times": own[TIMES]})
            row = {**row, field: {name: value for name, value in own.items() if name != TIMES}}
        plain.append(row)
    return plain, times


def write_rows(folder: Path, name: str, rows: Sequence[Row], field: str, times_name: str) -> list[str]:
    """Writes the rows, and their times if there are any; returns the names of the files."""
    plain, times = part_times(rows, field)
    write_jsonl(folder / name, plain)
    if times:
        write_jsonl(folder / times_name, times)
        return [name, times_name]
    if (folder / times_name).exists():  # of what lay there before
        (folder / times_name).unlink()
    return [name]
