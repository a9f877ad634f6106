"""Files that only grow, a JSON object a line: several processes may append, and a crash leaves whole lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from seedbed.errors import UserError
from seedbed.storage.paths import file_mask, read_bytes
from seedbed.storage.redact import redact
from seedbed.storage.store import SCHEMA_VERSION


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a line, on the disk when this returns; an object cannot grow. The rest of a line that a crash cut off is
    dropped first."""
    line = json.dumps({"schema_version": SCHEMA_VERSION, **row}, ensure_ascii=False, allow_nan=False)
    data = redact(line).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666 & ~file_mask())
        with os.fdopen(descriptor, "r+b") as handle:
            handle.seek(len(whole_lines(path)))
            handle.truncate()
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())


def read_rows(path: Path, n_bytes: int | None = None) -> Iterator[dict[str, Any]]:
    """The lines there are, or those of the first `n_bytes`; a line that is being written is not there yet."""
    for number, line in enumerate(whole_lines(path, n_bytes).split(b"\n")[:-1], start=1):
        try:
            row: dict[str, Any] = json.loads(line)
            version: Any = row["schema_version"]
        except (ValueError, LookupError, TypeError):
            raise UserError(f"{path}:{number}: is no line that Seedbed wrote; mend or remove it.") from None
        if version != SCHEMA_VERSION:
            raise UserError(f"{path}:{number}: schema_version is {version}, this Seedbed reads {SCHEMA_VERSION}.")
        yield row


def whole_lines(path: Path, n_bytes: int | None = None) -> bytes:
    """The bytes of all whole lines, or of those among the first `n_bytes`; none where there is no file."""
    if not path.exists():
        return b""
    data = read_bytes(path)[:n_bytes]
    return data[: data.rfind(b"\n") + 1]
