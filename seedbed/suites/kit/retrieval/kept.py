"""Folders that are slow to make, kept under the hash of all they are made from. Of two processes one makes a folder and
the other waits for it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from seedbed.errors import UserError

_WAIT_S = 1.0


def build_once(folder: Path, build: Callable[[Path], None], *, resume: bool = False) -> Path:
    """The folder, built if it is not there. It appears whole or not at all. What an attempt that was killed has left is
    handed to the next one where it can go on from it (`resume`), else it is dropped."""
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.with_name(f".{folder.name}.lock"))
        _acquire(lock, folder)
    except OSError as error:
        raise UserError(f"{folder.parent}: no index can be kept there ({error}); is the disk writable?") from None
    try:
        if folder.is_dir():  # the other has made it meanwhile
            return folder
        staging = folder.with_name(f".{folder.name}.building")
        if not resume:
            shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(exist_ok=True)
        try:
            build(staging)
        except BaseException:
            if not resume:
                shutil.rmtree(staging, ignore_errors=True)
            raise
        staging.rename(folder)
    finally:
        lock.release()
    return folder


def _acquire(lock: FileLock, folder: Path) -> None:
    try:
        lock.acquire(timeout=_WAIT_S)
    except Timeout:
        print(f"waiting for another process that prepares {folder.name}", file=sys.stderr, flush=True)
        lock.acquire()
