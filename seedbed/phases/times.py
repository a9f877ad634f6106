"""How long things took goes into files of its own: what a run answered and scored is then the same each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.storage.store import read_jsonl, write_jsonl
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
    (folder / times_name).unlink(missing_ok=True)  # of what lay there before
    return [name]


def with_times(folder: Path, name: str, field: str, times_name: str) -> Iterator[Row]:
    """The rows as they were before `write_rows` took their times out."""
    path = folder / times_name
    times = {row["sample_id"]: row["times"] for row in read_jsonl(path)} if path.exists() else {}
    for row in read_jsonl(folder / name):
        sample = row["sample_id"]
        yield {**row, field: {**row[field], TIMES: times[sample]}} if sample in times else row
