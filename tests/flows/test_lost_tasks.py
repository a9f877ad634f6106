"""Why a task of a cluster never ended, in a sentence."""

from __future__ import annotations

import socket

from flows.runners import why_lost
from seedbed.sweep.config import RunnerConfig


def test_a_scheduler_that_died_and_workers_that_cannot_begin_are_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as scheduler:
        address = f"tcp://127.0.0.1:{scheduler.getsockname()[1]}"
        runner = RunnerConfig(kind="dask", address=address)
        alive = why_lost(runner)
    assert "look into the log of the workers" in alive
    assert "PGPASSWORD and AWS_ACCESS_KEY_ID" in alive
    assert why_lost(runner).startswith(f"nothing answers any more at {address}; start the cluster again")
    assert why_lost(RunnerConfig(kind="dask")) == alive
