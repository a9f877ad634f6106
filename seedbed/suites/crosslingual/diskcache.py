"""Folders that are slow to make, kept under the hash of all they are made from."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seedbed.storage.hashing import hash_json


def folder_for(cache_dir: Path, kind: str, made_from: Any) -> Path:
    """Where the thing made from these settings and texts lies, or will lie."""
    return cache_dir / "crosslingual" / f"{kind}-{hash_json(made_from)[:32]}"


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """The folder, built if it is not there. It appears whole or not at all; of two processes that build it at once, the
    first to finish wins and both use its folder."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        build(temporary)
        temporary.chmod(0o755)
        temporary.rename(folder)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if not (isinstance(error, OSError) and folder.is_dir()):
            raise
    return folder
