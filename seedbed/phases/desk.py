"""Where a phase works: in its cell's folder, or in a copy of it on this disk where the folder is a prefix of objects.

A phase reads and writes a dozen small files; as objects each would be a wait of its own, and be read again for its
hash. So what there is comes at once when the phase begins, and what it made goes at once when it ends.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from seedbed.phases.context import SweepRun
from seedbed.storage.objects import drop, fetch, listed, send
from seedbed.storage.paths import is_local
from seedbed.storage.store import Store
from seedbed.sweep.cell import Cell

logger = logging.getLogger("seedbed.phases")

Stamps = dict[str, tuple[int, int]]

_UNREAD = ("cell.json", "config.json", "scores.jsonl", "metrics.json", "lm_history.jsonl", "manifest.json")
_UNREAD_FOLDERS = ("evaluation_results/", "metric_logs/", "logs/")
"""What phases write and none of them reads."""


@contextmanager
def desk(run: SweepRun, cell: Cell, may_keep: Callable[[], None]) -> Iterator[SweepRun]:
    """The run as the phase of a cell is to see it. What the phase has written is in its place at the end of the block,
    also if it failed; `may_keep` is asked first, and raises where another worker has taken the cell over."""
    if is_local(run.store.root):
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="seedbed-") as root:
        near = replace(run, store=Store(Path(root), run.store.cache_dir), ledger=run.ledger_url, results=run.store)
        folder, place = near.store.cell_dir(cell), run.store.cell_dir(cell)
        folder.mkdir(parents=True)
        fetch(place, (name for name in listed(place) if not _unread(name)), folder)
        before = _stamps(folder)
        try:
            yield near
        except BaseException:
            try:
                may_keep()
                _keep(folder, place, before, may_keep)
            except Exception as error:
                logger.warning("%s: what it had written could not be kept: %s", cell.title, error)
            raise
        _keep(folder, place, before, may_keep)


def _keep(folder: Path, place: Path, before: Stamps, may_keep: Callable[[], None]) -> None:
    """A marker comes after the files it speaks of."""
    now = _stamps(folder)
    new = [name for name, stamp in now.items() if before.get(name) != stamp]
    send(folder, [name for name in new if not _is_marker(name)], place)
    drop(place, before.keys() - now.keys())
    may_keep()
    send(folder, [name for name in new if _is_marker(name)], place)


def _is_marker(name: str) -> bool:
    return name.startswith("done/")


def _unread(name: str) -> bool:
    return name in _UNREAD or name.startswith(_UNREAD_FOLDERS)


def _stamps(folder: Path) -> Stamps:
    """By name, what changes with a file: files are replaced, never written into."""
    found = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    return {path.relative_to(folder).as_posix(): (own.st_ino, own.st_mtime_ns) for path, own in found.items()}
