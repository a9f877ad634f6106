"""Zip files: packed the same way each time, and unpacked with no trust in who made them."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from seedbed.errors import UserError

_DATE = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6
_MAX_FILES = 1_000_000
_ALWAYS = 1_000_000_000
_MOST_GROWTH = 200
"""Unpacked, a file may be a gigabyte, or so many times as large as it is: results shrink to a tenth, bombs to a
thousandth."""
_MAX_NAME = 1_000


def pack(target: Path, members: Mapping[str, Path | bytes]) -> None:
    """Write a zip. Equal members give equal bytes: names in order, no dates, no owners."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            content = members[name]
            if isinstance(content, bytes):
                archive.writestr(entry, content)
                continue
            entry.file_size = content.stat().st_size
            with content.open("rb") as source, archive.open(entry, "w") as place:
                shutil.copyfileobj(source, place, 1 << 20)


def unpack(file: Path, folder: Path, only: Iterable[str] | None = None) -> None:
    """Unpack a zip into a folder: the whole of it, or what lies under some names. One that would write elsewhere, or
    far more than it should, is refused before anything is written."""
    prefixes = None if only is None else tuple(only)
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            _refuse(file, entries)
            for entry in entries:
                if not entry.is_dir() and (prefixes is None or entry.filename.startswith(prefixes)):
                    _write(archive, entry, folder / entry.filename)
    except zipfile.BadZipFile as error:
        raise UserError(f"{file}: not a whole zip file ({error}); ask for it again.") from None
    except (zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(f"{file}: cannot be unpacked ({error}); ask for it again.") from None


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # No more than the entry says it holds is ever read.
    with archive.open(entry) as source, target.open("xb") as place:
        shutil.copyfileobj(source, place, 1 << 20)


def _refuse(file: Path, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > _MAX_FILES:
        raise UserError(f"{file}: holds {len(entries):,} files, more than any results have; it is not unpacked.")
    taken: set[str] = set()
    for entry in entries:
        reason = _reason(entry)
        # One file system in two does not tell capitals from small letters.
        name = entry.filename.casefold()
        if reason is None and name in taken:
            reason = "stands in it twice"
        if reason is not None:
            raise UserError(f"{file}: {entry.filename[:200]!r} {reason}; it is not unpacked.")
        taken.add(name)
    size = file.stat().st_size
    if sum(entry.compress_size for entry in entries) > size:
        raise UserError(f"{file}: its files overlap, as in a zip bomb; it is not unpacked.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > max(_ALWAYS, _MOST_GROWTH * size):
        raise UserError(f"{file}: {size:,} bytes would become {unpacked:,}, as in a zip bomb; it is not unpacked.")


def _reason(entry: zipfile.ZipInfo) -> str | None:
    """What is wrong with an entry; None if nothing is."""
    name = entry.filename
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device, not a file"
    if entry.flag_bits & 1:
        return "is encrypted"
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or ":" in name or "\0" in name or not parts:
        return "would be written outside the folder"
    if len(name) > _MAX_NAME:
        return "has too long a name"
    return None
