"""Asking the processes that work on a sweep to stop, through the run's folder: they may be on other machines."""

from __future__ import annotations

from seedbed.errors import Interrupted
from seedbed.lm.runtime import stop_runtimes
from seedbed.phases.context import SweepRun
from seedbed.storage.store import write_text

_FILE = "stop"


def stop_sweep(run: SweepRun, why: str) -> None:
    """No phase of this run starts another call, wherever it runs; those in flight get a moment."""
    stop_runtimes(Interrupted(why))
    if run.plan.config.runner.remote:
        write_text(run.folder / _FILE, why)


def heed_stop(run: SweepRun) -> None:
    """Stop this process's calls for the run, if that was asked for."""
    file = run.folder / _FILE
    if file.exists():
        run.runtime().stop(Interrupted(file.read_text(encoding="utf-8")))
