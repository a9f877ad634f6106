"""Where the files of a sweep lie, and how they are written: whole or not at all, on a disk as on object storage."""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from filelock import FileLock, Timeout

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_file
from seedbed.storage.objects import drop, move_aside, put, sizes, subfolders
from seedbed.storage.paths import file_mask, home, is_local, read_bytes
from seedbed.storage.redact import redact

SCHEMA_VERSION = 1
_LOCK_WAIT_S = 0.5


class HasFolder(Protocol):
    """A cell, as far as its files are concerned."""

    @property
    def id(self) -> str: ...
    @property
    def folder(self) -> str:
        """Below the root of all runs."""
        ...

    @property
    def title(self) -> str: ...
    @property
    def answers(self) -> Mapping[str, str]:
        """What its answers depend on, a hash a part."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """A finished phase: what its marker says."""

    key: str
    generation: int
    parts: Mapping[str, str]
    """What the key was made from, to say later what has changed."""
    files: Iterable[str]
    result: Mapping[str, Any]


def write_text(path: Path, text: str) -> None:
    """Write a text whole or not at all. Secrets are masked."""
    write_bytes(path, redact(text).encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file under another name, flush it to the disk, then put it in its place; an object, with one put."""
    if not is_local(path):
        put(path, data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as handle:
            os.fchmod(descriptor, 0o666 & ~file_mask())
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """A JSON object with its schema version in front."""
    write_text(path, json_text(data))


def json_text(data: Mapping[str, Any]) -> str:
    """What `write_json` writes."""
    text = json.dumps({"schema_version": SCHEMA_VERSION, **data}, ensure_ascii=False, indent=2, allow_nan=False)
    return text + "\n"


def read_json(path: Path) -> dict[str, Any]:
    data: Any = json.loads(read_bytes(path))
    if not isinstance(data, dict):
        raise UserError(f"{path}: holds no JSON object; it is not what Seedbed wrote.")
    data = cast("dict[str, Any]", data)
    if data.get("schema_version") != SCHEMA_VERSION:
        raise UserError(f"{path}: schema_version is {data.get('schema_version')}, this Seedbed reads {SCHEMA_VERSION}.")
    return data


def read_json_if_there(path: Path) -> dict[str, Any] | None:
    """The same; None where there is no such file. Of an object that is one request, where asking first takes up to
    three."""
    try:
        return read_json(path)
    except FileNotFoundError:
        return None


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file; a broken line is named."""
    opened = path.open("rb") if is_local(path) else io.BytesIO(read_bytes(path))
    with io.TextIOWrapper(opened, encoding="utf-8") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}:{number}: not valid JSON ({error.msg}); mend or remove the line.") from None


@dataclass(frozen=True)
class Store:
    """The root folder of all runs (`experiment_runs_data` by default), or their prefix on object storage."""

    root: Path
    cache: Path | None = None
    """Where what can be made again is kept, if elsewhere than usual."""

    def cell_dir(self, cell: HasFolder) -> Path:
        return self.root / cell.folder

    def group_dir(self, group: tuple[str, str, str, int]) -> Path:
        suite, benchmark, model, seed = group
        return self.root / f"experiment_runs/seed_{seed}/groups/{suite}_{benchmark}_{model}"

    def looks_dir(self, sweep: str) -> Path:
        """Where the looks at a sweep's contests are recorded: beside its cells, whatever run they were taken in."""
        return self.root / f"experiment_runs/looks/{sweep}"

    def sweep_dir(self, name: str, stamp: str) -> Path:
        return self.root / "sweeps" / name / stamp

    @property
    def ledger_url(self) -> str:
        """The ledger of a root whose config names none. Object storage cannot hold a database."""
        if not is_local(self.root):
            raise UserError(
                f"field ledger: is required where results go to {self.root}; give sqlite:////FOLDER/ledger.sqlite, or "
                "postgresql+psycopg://USER@HOST/DATABASE where several hosts share it."
            )
        return f"sqlite:///{self.root / 'ledger.sqlite'}"

    @property
    def cache_dir(self) -> Path:
        """Always on a disk: indexes are mapped into memory."""
        return self.cache or (self.root if is_local(self.root) else home()) / "cache"

    def latest_sweep(self, name: str) -> Path:
        """The newest folder of a sweep."""
        found = self.newest(name)
        if found is None:
            known = ", ".join(self.sweeps()) or "none yet"
            raise UserError(f"{self.root}: there is no sweep {name!r}; known: {known}.")
        return found

    def sweeps(self) -> list[str]:
        """Names of all sweeps run here."""
        return [name for name in subfolders(self.root / "sweeps") if self.newest(name) is not None]

    def newest(self, sweep: str) -> Path | None:
        """The newest folder of a sweep; None where there is none."""
        folder = self.root / "sweeps" / sweep
        runs = (folder / stamp for stamp in reversed(subfolders(folder)))
        return next((run for run in runs if (run / "plan.json").exists()), None)

    @contextmanager
    def lock(self, cell: HasFolder, check_stop: Callable[[], None]) -> Iterator[None]:
        """Keep a cell's folder to one worker. A second one waits, asking `check_stop` meanwhile; a killed process holds
        nothing. For folders on a disk; `seedbed.phases.lock` knows what to take elsewhere."""
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

    def claim_folder(self, cell: HasFolder) -> Path:
        """The cell's folder, ready for its files. What belongs to another cell id is moved aside, never overwritten."""
        folder = self.cell_dir(cell)
        owner = folder / "cell.json"
        held = read_json_if_there(owner)
        if held is not None and held["cell_id"] != cell.id:
            _set_aside(folder, f"{folder.name}@{held['cell_id'][:8]}")
            held = None
        if held is None:
            write_json(owner, {"cell_id": cell.id, "title": cell.title, "answers": dict(cell.answers)})
        return folder

    def done(self, cell: HasFolder, phase: str, key: str, generation: int) -> dict[str, Any] | None:
        """The marker of a finished phase, if it has this key, is of this generation or a later one, and its files are
        all there."""
        data = read_json_if_there(self._marker(cell, phase))
        if data is None or data["key"] != key or data["generation"] < generation:
            return None
        return data if sizes(self.cell_dir(cell), data["files"]) == data["files"] else None

    def mark_done(self, cell: HasFolder, phase: str, done: Done) -> None:
        """The last thing a phase writes."""
        folder, names = self.cell_dir(cell), list(done.files)
        write_json(
            self._marker(cell, phase),
            {
                "cell_id": cell.id,
                "phase": phase,
                "key": done.key,
                "generation": done.generation,
                "parts": dict(done.parts),
                "files": sizes(folder, names),
                "sha256": {name: hash_file(folder / name) for name in names},
                "finished_at": time.time(),
                "result": dict(done.result),
            },
        )

    def forget(self, cell: HasFolder, phases: Iterable[str]) -> None:
        """Phases of the cell that are no longer done, whatever their markers say."""
        names = [f"{phase}.json" for phase in phases]
        folder = self.cell_dir(cell) / "done"
        if not is_local(folder):
            drop(folder, set(names) & set(subfolders(folder)))
            return
        for name in names:
            (folder / name).unlink(missing_ok=True)

    def _marker(self, cell: HasFolder, phase: str) -> Path:
        return self.cell_dir(cell) / "done" / f"{phase}.json"


def _set_aside(folder: Path, name: str) -> None:
    """Give a folder another name, or that name with a number where it is taken."""

    def name_of(number: int) -> str:
        return name if number == 1 else f"{name}.{number}"

    if not is_local(folder):
        move_aside(folder, name_of, last="cell.json")
        return
    number = 1
    while (target := folder.with_name(name_of(number))).exists():
        number += 1
    folder.rename(target)
