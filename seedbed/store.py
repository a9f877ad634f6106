"""Where the files of a sweep lie, and how they are written: whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seedbed.cell import Cell
from seedbed.errors import UserError
from seedbed.hashing import hash_file
from seedbed.redact import redact

SCHEMA_VERSION = 1
_LOCK_WAIT_S = 0.5
# It can only be read by setting it.
_UMASK = os.umask(0)
os.umask(_UMASK)


def write_text(path: Path, text: str) -> None:
    """Write a text whole or not at all. Secrets are masked."""
    write_bytes(path, redact(text).encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file under another name, flush it to the disk, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as handle:
            # Temporary files are private; results are as readable as the user's other files.
            os.fchmod(descriptor, 0o666 & ~_UMASK)
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """A JSON object with its schema version in front."""
    text = json.dumps({"schema_version": SCHEMA_VERSION, **data}, ensure_ascii=False, indent=2, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if data.get("schema_version") != SCHEMA_VERSION:
        raise UserError(f"{path}: schema_version is {data.get('schema_version')}, this Seedbed reads {SCHEMA_VERSION}.")
    return data


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file; a broken line is named."""
    with path.open(encoding="utf-8") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}:{number}: not valid JSON ({error.msg}); mend or remove the line.") from None


@dataclass(frozen=True)
class Store:
    """The root folder of all runs (`experiment_runs_data` by default)."""

    root: Path

    def cell_dir(self, cell: Cell) -> Path:
        return self.root / cell.folder

    def group_dir(self, group: tuple[str, str, str, int]) -> Path:
        suite, benchmark, model, seed = group
        return self.root / f"experiment_runs/seed_{seed}/groups/{suite}_{benchmark}_{model}"

    def sweep_dir(self, name: str, stamp: str) -> Path:
        return self.root / "sweeps" / name / stamp

    @property
    def ledger_url(self) -> str:
        return f"sqlite:///{self.root / 'ledger.sqlite'}"

    @property
    def cache_dir(self) -> Path:
        return self.root / "cache"

    def latest_sweep(self, name: str) -> Path:
        """The newest folder of a sweep."""
        runs = sorted((self.root / "sweeps" / name).glob("*/plan.json"))
        if not runs:
            known = ", ".join(self.sweeps()) or "none yet"
            raise UserError(f"{self.root}: there is no sweep {name!r}; known: {known}.")
        return runs[-1].parent

    def sweeps(self) -> list[str]:
        """Names of all sweeps run here."""
        return sorted({p.parent.parent.name for p in (self.root / "sweeps").glob("*/*/plan.json")})

    @contextmanager
    def lock(self, cell: Cell, check_stop: Callable[[], None]) -> Iterator[None]:
        """Keep a cell's folder to one worker. A second one waits, asking `check_stop` meanwhile; a killed process holds
        nothing."""
        folder = self.cell_dir(cell).parent / ".locks"
        folder.mkdir(parents=True, exist_ok=True)
        # Keyed by the folder, not the id: two ids that meet in one folder must not meet at one time.
        lock = FileLock(folder / f"{self.cell_dir(cell).name}.lock")
        while True:
            try:
                lock.acquire(timeout=_LOCK_WAIT_S)
                break
            except Timeout:
                check_stop()
            except OSError as error:
                raise UserError(f"{folder}: cannot be locked ({error}); is the disk writable?") from None
        try:
            yield
        finally:
            lock.release()

    def claim_folder(self, cell: Cell) -> Path:
        """The cell's folder, ready for its files. What belongs to another cell id is moved aside, never overwritten."""
        folder = self.cell_dir(cell)
        owner = folder / "cell.json"
        if owner.exists():
            held = read_json(owner)["cell_id"]
            if held != cell.id:
                folder.rename(_free_name(folder.with_name(f"{folder.name}@{held[:8]}")))
        folder.mkdir(parents=True, exist_ok=True)
        if not owner.exists():
            write_json(owner, {"cell_id": cell.id, "title": cell.title})
        return folder

    def done(self, cell: Cell, phase: str, inputs: str, since: float = 0.0) -> dict[str, Any] | None:
        """The marker of a finished phase, if it was made from these inputs and its files are all there."""
        marker = self.cell_dir(cell) / "done" / f"{phase}.json"
        if not marker.exists():
            return None
        data = read_json(marker)
        if data["cell_id"] != cell.id or data["inputs"] != inputs or data["finished_at"] < since:
            return None
        for name, size in data["files"].items():
            file = self.cell_dir(cell) / name
            if not file.exists() or file.stat().st_size != size:
                return None
        return data

    def mark_done(self, cell: Cell, phase: str, inputs: str, files: Iterable[str], result: Mapping[str, Any]) -> None:
        """The last thing a phase writes."""
        folder = self.cell_dir(cell)
        sizes = {name: (folder / name).stat().st_size for name in files}
        write_json(
            folder / "done" / f"{phase}.json",
            {
                "cell_id": cell.id,
                "phase": phase,
                "inputs": inputs,
                "files": sizes,
                "sha256": {name: hash_file(folder / name) for name in sizes},
                "finished_at": time.time(),
                "result": dict(result),
            },
        )


def file_hash_or_none(path: Path) -> str | None:
    """The hash of a file that may not be there (a cell without an optimised program)."""
    return hash_file(path) if path.exists() else None


def _free_name(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.{number}")
    return candidate
