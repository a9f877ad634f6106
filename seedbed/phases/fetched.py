"""The results of a sweep that lie on object storage, as copies on this disk: listed once, fetched side by side. Read in
their place, each file would be a wait of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seedbed.phases.context import SweepRun
from seedbed.phases.labels import labels_path
from seedbed.storage.objects import download, fetch, listed
from seedbed.storage.paths import is_local
from seedbed.storage.store import Store
from seedbed.sweep.plan import Plan

_CELLS = "experiment_runs"
_OF_NO_REPORT = ("cell.json", "manifest.json", "done/generate.json", "done/score.json")
_FOLDERS_OF_NO_REPORT = ("evaluation_results/", "metric_logs/", "logs/")


@contextmanager
def fetched(run: SweepRun) -> Iterator[Store]:
    """The store that a report is made from: the run's own, or one with copies of what a report reads."""
    if is_local(run.store.root):
        yield run.store
        return
    with tempfile.TemporaryDirectory(prefix="seedbed-") as folder:
        near = Store(Path(folder), run.store.cache_dir)
        # Whether a contest was decided is asked of markers, which count only beside all of their files.
        fetch_results(run.store, run.plan, near, whole=any(cell.in_looks for cell in run.plan.cells))
        labels = labels_path(run.store, run.plan.config.name)
        if labels.exists():
            download(labels, labels_path(near, run.plan.config.name).parent)
        yield near


def fetch_results(store: Store, plan: Plan, near: Store, *, whole: bool = True) -> None:
    """Copies of the files of all cells and groups of a plan, and of its looks; `whole`: also of those that no report
    needs."""
    folders = {cell.folder.removeprefix(f"{_CELLS}/") for cell in plan.cells}
    beside = {store.group_dir(group) for group in plan.groups()} | {store.looks_dir(plan.config.name)}
    folders |= {str(folder).removeprefix(f"{store.root}/{_CELLS}/") for folder in beside}

    def wanted(name: str) -> bool:
        own = _folder_of(name, folders)
        return own is not None and (whole or not _no_report(name.removeprefix(f"{own}/")))

    fetch(store.root / _CELLS, filter(wanted, listed(store.root / _CELLS)), near.root / _CELLS)


def _folder_of(name: str, folders: set[str]) -> str | None:
    """That of the folders in which a file lies; cells and groups lie two or three deep, and have folders in them."""
    parts = name.split("/")
    paths = ("/".join(parts[:depth]) for depth in range(2, len(parts)))
    return next((path for path in paths if path in folders), None)


def _no_report(name: str) -> bool:
    return name in _OF_NO_REPORT or name.startswith(_FOLDERS_OF_NO_REPORT)
