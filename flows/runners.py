"""Where the tasks of a sweep run: threads of this process, or a cluster of Dask or Ray."""

from __future__ import annotations

import importlib
import logging
import math
import os
import socket
from typing import Any
from urllib.parse import urlsplit

from prefect.task_runners import ThreadPoolTaskRunner

from seedbed.errors import UserError
from seedbed.sweep.config import RunnerConfig

_ANSWER_S = 5.0


def task_runner(runner: RunnerConfig) -> Any:
    """The runner of Prefect that the config asks for. Prefect types each by its own kind of future."""
    match runner.kind:
        case "threads":
            return ThreadPoolTaskRunner(max_workers=runner.workers)
        case "dask":
            return _dask(runner)
        case "ray":
            return _ray(runner)


def _dask(runner: RunnerConfig) -> Any:
    made = _package("prefect_dask", "dask").DaskTaskRunner
    # Of a scheduler that has gone it tells in tracebacks; `why_lost` does in a sentence.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    if runner.address is not None:
        _refuse_silent(runner.address)
        return made(address=runner.address)
    processes = min(runner.workers, os.cpu_count() or 1)
    # Cells wait for models most of the time, so a process takes several.
    threads = math.ceil(runner.workers / processes)
    return made(cluster_kwargs={"n_workers": processes, "threads_per_worker": threads, "dashboard_address": None})


def _ray(runner: RunnerConfig) -> Any:
    made = _package("prefect_ray", "ray").RayTaskRunner
    if runner.address is not None:
        _refuse_silent(runner.address)
        return made(address=runner.address)
    return made(init_kwargs={"num_cpus": runner.workers, "include_dashboard": False})


def _package(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UserError(
            f"field runner.kind: {extra} needs a package that is not installed; pip install 'seedbed[{extra}]'."
        ) from None


def why_lost(runner: RunnerConfig) -> str:
    """Why a task never ended, as far as can be seen from here."""
    kept = "what was paid for is kept"
    if runner.address is not None:
        try:
            _refuse_silent(runner.address)
        except UserError:
            return f"nothing answers any more at {runner.address}; start the cluster again, and run again: {kept}"
    return (
        "its worker was lost again and again, or could not begin: look into the log of the workers. Each needs the "
        "keys of the models and PREFECT_API_URL, and where the config asks for them PGPASSWORD and AWS_ACCESS_KEY_ID "
        f"with its fellows; {kept}"
    )


def _refuse_silent(address: str) -> None:
    """A cluster that is not there is said at once; its own client would try for half a minute and leave a traceback."""
    place = urlsplit(address if "://" in address else f"tcp://{address}")
    if place.hostname is None or place.port is None:
        raise UserError(f"field runner.address: {address!r} needs a host and a port, such as tcp://10.0.0.5:8786.")
    try:
        socket.create_connection((place.hostname, place.port), _ANSWER_S).close()
    except OSError:
        raise UserError(
            f"field runner.address: nothing answers at {address}; start the cluster, or leave the address out."
        ) from None
