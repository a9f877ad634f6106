"""Logs of inspect_ai, as .eval (a zip) or .json: scores by sample and epoch."""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from seedbed.errors import UserError
from seedbed.phases.imports.declared import declare
from seedbed.phases.imports.imported import ImportedRow, ImportedTable
from seedbed.storage.hashing import hash_json

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer: as inspect_ai itself counts them."""
_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""What stands before each file of a zip: last the lengths of its name and of what is added to it."""


def is_inspect_log(path: Path, whole: Any) -> bool:
    return path.suffix == ".eval" or (isinstance(whole, dict) and {"eval", "status"} <= set(cast("Any", whole)))


def read_inspect(path: Path, whole: Any = None) -> ImportedTable:
    header, samples = (whole, whole.get("samples")) if path.suffix != ".eval" else _unzipped(path)
    try:
        task, model = str(header["eval"]["task"]), str(header["eval"]["model"])
    except (KeyError, TypeError):
        raise UserError(f"{path}: is no log of inspect_ai (eval.task and eval.model are missing).") from None
    if not samples:
        raise UserError(f"{path}: holds no samples; log them (inspect eval --log-samples).")
    values: dict[str, set[float]] = {}
    numbers: set[str] = set()
    left_out: set[str] = set()
    rows: list[ImportedRow] = []
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or "id" not in sample:
            raise UserError(f"{path}: sample {number} has no id; it is no sample of inspect_ai.")
        row = _row(cast("dict[str, Any]", sample), numbers, left_out)
        rows.append(row)
        for name, value in row.scores.items():
            values.setdefault(name, set()).update([] if value is None else [value])
    metrics = [declare(name, own, graded=name not in numbers) for name, own in values.items()]
    return ImportedTable(task, model, metrics, rows, sorted(left_out - set(values)))


def _row(sample: Mapping[str, Any], numbers: set[str], left_out: set[str]) -> ImportedRow:
    """`numbers` and `left_out` take the names of scores that are numbers, and of those that are none."""
    # The question belongs to the name: samples of the same number from other files are no pair.
    asked = hash_json([sample.get("input"), sample.get("target")])[:12]
    scores: dict[str, float | None] = {}
    for name, value in _values(sample.get("scores") or {}):
        if isinstance(value, bool):
            scores[name] = float(value)
        elif isinstance(value, str) and value in _LETTERS:
            scores[name] = _LETTERS[value]
        elif isinstance(value, int | float) and not math.isnan(value):
            scores[name] = float(value)
            numbers.add(name)
        else:
            left_out.add(name)
    error = sample.get("error")
    told = str(cast("Any", error).get("message", "error")) if isinstance(error, dict) else None
    epoch = sample.get("epoch")
    return ImportedRow(f"{sample['id']}:{asked}", epoch if isinstance(epoch, int) else 1, {} if told else scores, told)


def _values(scores: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """By metric; a scorer that gives several has them as an object."""
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{name}/{key}", own) for key, own in cast("dict[str, Any]", value).items())
        else:
            yield name, value if not isinstance(value, list) else None


def _unzipped(path: Path) -> tuple[Any, list[Any]]:
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
            entries = {info.filename: info for info in archive.infolist()}
            names = sorted(name for name in entries if name.startswith("samples/") and name.endswith(".json"))
            read = {name: json.loads(_content(archive, raw, entries[name])) for name in (*names, "header.json")}
            return read.pop("header.json"), list(read.values())
    except (KeyError, ValueError, OSError, NotImplementedError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: cannot be read as a log of inspect_ai ({error}).") from None


def _content(archive: zipfile.ZipFile, raw: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """A file of the zip. inspect_ai packs by Zstandard, which Python's own zipfile knows only from 3.14 on."""
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    import pyarrow as arrow

    raw.seek(info.header_offset)
    head = raw.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size:
        raise ValueError(f"{info.filename} lies beyond its end")
    name, extra = _LOCAL_HEADER.unpack(head)[-2:]
    raw.seek(name + extra, os.SEEK_CUR)
    packed = arrow.BufferReader(raw.read(info.compress_size))
    try:
        return arrow.CompressedInputStream(packed, "zstd").read()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{info.filename} is damaged: {error}") from None
