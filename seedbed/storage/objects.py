"""What object storage does in its own way: put a whole object, list a prefix, set a prefix aside."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from seedbed.errors import UserError
from seedbed.storage.paths import filesystem, is_local

_AT_ONCE = 64
"""Requests that are under way at one time."""


def put(path: Path, data: bytes) -> None:
    """Write an object. Readers see the old one or the new one, whole; a kill in the middle leaves the old one."""
    fs, name = filesystem(path)
    fs.pipe_file(name, data)


def subfolders(path: Path) -> list[str]:
    """Names of what lies in a folder or directly under a prefix, in order; none where there is no such place."""
    if is_local(path):
        return sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []
    fs, name = filesystem(path)
    try:
        found: Iterable[str] = fs.ls(name, detail=False)
    except FileNotFoundError:
        return []
    return sorted({entry.rstrip("/").rpartition("/")[2] for entry in found if entry.rstrip("/") != name})


def sizes(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """Bytes of those of the files that are there."""
    if is_local(folder):
        return {name: found.stat().st_size for name in names if (found := folder / name).exists()}
    found = listed(folder)
    return {name: found[name] for name in names if name in found}


def move_aside(folder: Path, name_of: Callable[[int], str], last: str) -> Path:
    """Copy all objects of a prefix to `name_of(1)` beside it, or `name_of(2)` ... where that is taken, then delete them
    here. Can be killed anywhere and done again: an object is deleted only once its copy is there.

    The object called `last` says whose prefix it is. Its copy is made last, so a target without it is the rest of a
    killed copy and is filled up; it is deleted last, so a source with it is the rest of a killed deletion.
    """
    fs, source = filesystem(folder)
    names = [*(sorted(name for name in listed(folder) if name != last)), last]
    number = 1
    while True:
        target = folder.with_name(name_of(number))
        if not (target / last).exists():
            for name in names:
                fs.cp_file(f"{source}/{name}", f"{filesystem(target)[1]}/{name}")
            break
        if _holds(target, folder, names):
            break
        number += 1
    for name in names:
        fs.rm_file(f"{source}/{name}")
    return target


def read_many(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Objects under a prefix, many requests side by side; those that are gone are left out."""
    if not names:
        return {}
    fs, prefix = filesystem(folder)
    whole = {"max_concurrency": 1} if hasattr(fs, "call_s3") else {}
    full = [f"{prefix}/{name}" for name in names]
    found: dict[str, bytes] = fs.cat(full, recursive=False, on_error="omit", batch_size=_AT_ONCE, **whole)
    return {name.removeprefix(f"{prefix}/"): data for name, data in found.items()}


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """A local file to write into at leisure; at the end of the block it is put in the target's place, whole."""
    if is_local(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.tmp")
        try:
            yield partial
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return
    with tempfile.TemporaryDirectory(prefix="seedbed-") as folder:
        partial = Path(folder) / target.name
        yield partial
        fs, name = filesystem(target)
        fs.put_file(str(partial), name)


def download(path: Path, folder: Path) -> Path:
    """A copy of a remote file in a local folder."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.name
    with path.open("rb") as source, target.open("wb") as handle:
        shutil.copyfileobj(source, handle)
    return target


def download_folder(prefix: Path, folder: Path) -> None:
    """Copies of all objects under a prefix, in a local folder."""
    fetch(prefix, listed(prefix), folder)


def fetch(prefix: Path, names: Iterable[str], folder: Path) -> None:
    """Copies of objects under a prefix in a local folder, many requests side by side."""
    wanted = list(names)
    for name in wanted:
        if ".." in name.split("/"):
            raise UserError(f"{prefix}/{name}: would be written outside the folder; it is not fetched.")
    if wanted:
        fs, source = filesystem(prefix)
        fs.get([f"{source}/{name}" for name in wanted], [f"{folder}/{name}" for name in wanted], batch_size=_AT_ONCE)


def send(folder: Path, names: Iterable[str], prefix: Path) -> None:
    """Files of a local folder as objects under a prefix, many requests side by side; each appears whole."""
    if wanted := list(names):
        fs, target = filesystem(prefix)
        fs.put([f"{folder}/{name}" for name in wanted], [f"{target}/{name}" for name in wanted], batch_size=_AT_ONCE)


def drop(prefix: Path, names: Iterable[str]) -> None:
    """Delete objects under a prefix; what is not there is left at that."""
    fs, source = filesystem(prefix)
    for name in names:
        fs.rm_file(f"{source}/{name}")


def listed(folder: Path) -> dict[str, int]:
    """Every object under a prefix by its name below it, with its size; a request for each thousand."""
    fs, name = filesystem(folder)
    found = fs.find(name, detail=True)
    return {key.removeprefix(f"{name}/"): entry["size"] for key, entry in found.items()}


def _holds(target: Path, folder: Path, names: Iterable[str]) -> bool:
    found = listed(target)
    return all(name in found and (target / name).read_bytes() == (folder / name).read_bytes() for name in names)
