"""The results of `seedbed score`: which files there are, and where they go so that no other results are lost.

They go into the folder that is named, or beside the file that is scored. Where results of another file lie there
already, they go into a folder of their own in it: `run2_scores` for run2.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_file, hash_json
from seedbed.storage.store import write_json, write_jsonl
from seedbed.suite import SCORE_TIMES, ScoreRow

SCORES, METRICS = "scores.jsonl", "metrics.json"
RECORD = "scored_input.json"
"""Says of which file the results in a folder are."""
_RESULTS = (SCORES, METRICS, SCORE_TIMES, "turn_eval.jsonl", "metrics_summary.json")


@contextmanager
def result_folder(path: Path, out: Path | None) -> Iterator[Path]:
    """The folder for the results of scoring `path`. If the file is refused, nothing is left there that was not before.

    A run that is broken off keeps its folder, so that what was paid for in it is found again.
    """
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name a file in it.")
    if not path.exists():
        raise UserError(f"{path}: no such file.")
    record = {"name": path.name, "sha256": hash_file(path), "place": hash_json(str(path.resolve()))}
    folder = next(f for f in _places(path, out or path.parent) if _may_be_used(f, record))
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    known = (folder / RECORD).exists()
    try:
        write_json(folder / RECORD, record)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); name another folder with --out.") from None
    try:
        yield folder
    except UserError:
        if not known:
            (folder / RECORD).unlink(missing_ok=True)
        for parent in made:
            with suppress(OSError):  # it holds something
                parent.rmdir()
        raise


def write_results(folder: Path, rows: Iterable[Mapping[str, Any]], metrics: Mapping[str, Any], **more: Any) -> Path:
    """scores.jsonl, a row a sample, and metrics.json; returns the latter."""
    write_jsonl(folder / SCORES, rows)
    write_json(folder / METRICS, {"metrics": metrics, **more})
    return folder / METRICS


def as_data(row: ScoreRow) -> dict[str, Any]:
    """`asdict` without its deep copies, which would take longer than scoring."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def _places(path: Path, target: Path) -> Iterator[Path]:
    """Where results may go, in the order in which they are tried."""
    stem = Path(path.name.removesuffix(".gz")).stem
    yield target
    yield target / f"{stem}_scores"
    for number in count(2):
        yield target / f"{stem}_scores.{number}"


def _may_be_used(folder: Path, record: Mapping[str, str]) -> bool:
    """Whether the folder holds no results, or results of this very file. One that was changed since is the same file;
    so is one that was moved here with its results."""
    if not (folder / RECORD).exists():
        return not any((folder / name).exists() for name in _RESULTS)
    try:
        held = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    same_content = held.get("name") == record["name"] and held.get("sha256") == record["sha256"]
    return held.get("place") == record["place"] or same_content
