"""A sweep is asked to stop: its processes here at once, those elsewhere through the run's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.errors import Interrupted
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.halt import heed_stop, stop_sweep
from tests.support.cells import prepared

CONFIG = """\
name: halted
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - {suite: toy, models: [reader], benchmarks: [{name: sums, n: 2}], systems: [{name: guess, label: base, skill: 0.5}]}
runner: {kind: KIND}
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _run(folder: Path, kind: str) -> SweepRun:
    config = folder / "halted.yaml"
    config.write_text(CONFIG.replace("KIND", kind), encoding="utf-8")
    return open_run(prepared(config, folder / "out").run)


@pytest.mark.parametrize("kind", ["threads", "dask"])
def test_no_further_call_starts_here(tmp_path: Path, kind: str) -> None:
    run = _run(tmp_path, kind)
    run.runtime().check_stop("a cell")
    stop_sweep(run, "it was enough")
    with pytest.raises(Interrupted, match="it was enough"):
        run.runtime().check_stop("a cell")


def test_a_process_elsewhere_hears_of_it_with_the_reason(tmp_path: Path) -> None:
    run = _run(tmp_path, "dask")
    stop_sweep(run, "it was enough")
    # A process of its own, as a worker is: nothing was asked of its runtimes yet.
    close_runtimes()
    run.runtime().check_stop("a cell")
    heed_stop(run)
    with pytest.raises(Interrupted, match="it was enough"):
        run.runtime().check_stop("a cell")


def test_nobody_stops_unasked(tmp_path: Path) -> None:
    run = _run(tmp_path, "dask")
    heed_stop(run)
    run.runtime().check_stop("a cell")
