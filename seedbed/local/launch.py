"""From a plan to a running sweep: the run's folder, the server, the flow. The one place where the library reaches the
flows, by name and only now."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import seedbed
from seedbed.errors import Signalled, UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.local import server
from seedbed.local.signals import on_signal
from seedbed.local.watch import ServerWatch
from seedbed.phases.context import open_run
from seedbed.phases.halt import stop_sweep
from seedbed.storage.paths import as_path
from seedbed.storage.store import read_json
from seedbed.sweep.config import RunnerConfig


@dataclass(frozen=True)
class Launched:
    """How a sweep ended, and where its results are."""

    status: str
    folder: Path
    api_url: str
    signal: Signalled | None = None
    """What it was stopped by, if it was from this terminal or by who started the process."""
    server_gone: bool = False
    """The server died before it was told everything; threads that still try are not to be waited for."""

    @property
    def ui(self) -> str:
        return self.api_url.removesuffix("/api")


def get_ready(runner: RunnerConfig) -> None:
    """What can be refused before a folder is made for a run: a home that cannot be written, a server that does not
    start or answer, packages that shadow ours, a cluster that is not there."""
    if "PREFECT_API_URL" not in os.environ and server.running() is None:
        server.usable_home()
        print("starting the Prefect server: some seconds, and it stays for later runs", flush=True)
    server.connect()
    runners = import_flows("runners")
    if runner.remote:
        runners.task_runner(runner)


def run_sweep(
    folder: Path, runner: RunnerConfig, flow_name: Literal["sweep", "rescore"] = "sweep", *, to_go_on: str = ""
) -> Launched:
    """Run the sweep planned in a folder to its end, or until Ctrl-C or SIGTERM: calls in flight then get a moment and
    what is there is summed up. A second signal ends the process at once, with `to_go_on` as its last words."""
    server.connect()
    flow = getattr(import_flows(flow_name), f"{flow_name}_on")(runner)
    run, heard = open_run(str(folder)), list[Signalled]()

    def stop(number: int) -> None:
        heard.append(Signalled(number))
        if len(heard) == 1:
            stop_sweep(run, "stopped by the user")
            return
        # The ledger knows what was in flight; nothing is lost but those calls.
        print(f"\nStopped at once. Everything paid for is kept. {to_go_on}".rstrip(), file=sys.stderr, flush=True)
        os._exit(heard[0].exit_code)

    api = os.environ["PREFECT_API_URL"]
    watch = ServerWatch(api, folder / "summary.json")
    with on_signal(stop):
        try:
            status = watch.wait(_beside(lambda: asyncio.run(_run(flow, str(folder)))))
        finally:
            close_runtimes()
    status = status or read_json(folder / "summary.json")["status"]
    return Launched(status, folder, api, heard[0] if heard else None, watch.gone)


def _beside(work: Callable[[], str]) -> Future[str]:
    """Do something in another thread: Prefect puts its own handler of SIGTERM, which ends everything with a traceback,
    in the place of ours wherever it finds itself in the main one."""
    done: Future[str] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="seedbed-flow", daemon=True).start()
    return done


async def _run(flow: Any, folder: str) -> str:
    summary = as_path(folder) / "summary.json"
    try:
        state = await flow(folder, return_state=True)
    except Exception:
        if not summary.exists():
            raise
        # All is on disk: only the server could not be told.
        return read_json(summary)["status"]
    if not summary.exists():
        # The flow itself broke, not a cell of it.
        try:
            await state.aresult(raise_on_failure=True)
        except Exception as error:
            if type(error).__name__ != "FailedRun":
                raise
            # It was ended with a sentence; Prefect, which is not known here, makes such an error of it.
            raise UserError(str(state.message)) from None
    return read_json(summary)["status"]


def import_flows(name: str) -> Any:
    """The module of a flow, once it is sure that `flows` and `tasks` are ours: the names are common ones."""
    ours = Path(seedbed.__file__).resolve().parent.parent
    for package in ("flows", "tasks"):
        found = Path(importlib.import_module(package).__file__ or "").resolve().parent.parent
        if found != ours:
            raise UserError(
                f"the package {package!r} at {found} shadows Seedbed's own at {ours}; rename it or run elsewhere."
            )
    return importlib.import_module(f"flows.{name}")
