"""Hashes that are the same on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seedbed.storage.paths import is_local, read_bytes


def canonical_json(value: Any) -> bytes:
    """JSON with sorted keys and no spaces, text as UTF-8: one value, one sequence of bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def hash_json(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def hash_file(path: Path) -> str:
    if not is_local(path):
        return hashlib.sha256(read_bytes(path)).hexdigest()
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def hash_files(paths: Iterable[Path]) -> str:
    """One hash over files and folders: contents and names, wherever they lie."""
    digest = hashlib.sha256()
    for path in paths:
        if not path.is_dir():
            digest.update(f"{path.name}\0{hash_file(path)}\n".encode())
            continue
        for member in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(f"{member.relative_to(path).as_posix()}\0{hash_file(member)}\n".encode())
    return digest.hexdigest()
