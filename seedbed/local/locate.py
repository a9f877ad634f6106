"""Finding the run of a sweep that a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seedbed.errors import UserError
from seedbed.storage.paths import as_path, as_root
from seedbed.storage.store import Store

if TYPE_CHECKING:
    from seedbed.phases.context import SweepRun


def locate(sweep: str, out: str) -> SweepRun:
    """The newest run of a sweep, by its name; or the very run in a folder, by the folder's path."""
    from seedbed.phases.context import open_run

    folder = as_root(sweep) if "://" in sweep else as_path(sweep).resolve()
    if (folder / "plan.json").exists():
        return open_run(str(folder))
    if "/" in sweep:
        raise UserError(f"{sweep}: no run of a sweep (plan.json is missing); give a sweep's name or its run's folder.")
    return open_run(str(Store(as_root(out)).latest_sweep(sweep)))
