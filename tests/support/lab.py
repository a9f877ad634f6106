"""A small lab: deployments on the real server, a worker in a process group of its own, runs started through the API."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from seedbed.local import server
from seedbed.local.guard import basic
from tests.support import forked

_CLIENT = "tests"


def call(method: str, path: str, body: Any = None) -> Any:
    """Ask the Prefect server, as a client that knows its auth string."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "authorization": basic(server.auth_string())}
    if method != "GET":
        token = call("GET", f"/csrf-token?client={_CLIENT}")["token"]
        headers |= {"prefect-csrf-token": token, "prefect-csrf-client": _CLIENT}
    request = urllib.request.Request(f"{_api()}{path}", data, headers, method=method)
    for _ in range(20):
        try:
            with urllib.request.urlopen(request) as reply:
                text = reply.read()
            return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            # SQLite was busy; Prefect's own clients ask again too.
            if error.code != 503:
                raise
            time.sleep(1.0)
    raise AssertionError(f"the server stayed busy: {path}")


def _descendants(pid: int) -> list[int]:
    """A process and all below it, the process first: a worker that sees its flow die would say so to the server."""
    found = [pid]
    for own in found:
        for file in Path(f"/proc/{own}/task").glob("*/children"):
            found += [int(child) for child in file.read_text(encoding="utf-8").split()]
    return found


def _is_flow(pid: int) -> bool:
    with suppress(OSError):
        return b"prefect.engine" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _wait_for_end(pid: int, timeout: float) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], timeout)[0], "a flow's process does not end"
    finally:
        os.close(handle)


@lru_cache(maxsize=1)
def _api() -> str:
    return server.start().api


class Lab:
    """Deployments of one config in one folder, on a pool of their own."""

    def __init__(self, folder: Path, config: str, pool: str) -> None:
        self.folder, self.config, self.pool = folder, config, pool
        self._worker: subprocess.Popen[bytes] | None = None

    def deploy(self, *arguments: str) -> str:
        done = self.seedbed("deploy", self.config, "--pool", self.pool, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def seedbed(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return forked.run(
            [sys.executable, "-m", "seedbed", *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=self.folder,
            env=dict(os.environ),
        )

    def start_worker(self) -> None:
        with (self.folder / "worker.log").open("ab") as log:
            self._worker = forked.Popen(
                [sys.executable, "-m", "seedbed", "worker", "--pool", self.pool],
                cwd=self.folder,
                env=dict(os.environ),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill_worker(self) -> None:
        """As the loss of its machine: kill -9 of the worker and all it started, whose sessions are their own."""
        if self._worker is not None:
            for process in _descendants(self._worker.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self._worker.wait()
            self._worker = None

    def __enter__(self) -> Lab:
        self.start_worker()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_worker()

    def trigger(self, deployment: str = "nightly/nightly", **request: Any) -> str:
        """Start a run of a deployment through the API; returns its id."""
        found = call("GET", f"/deployments/name/{deployment}")
        parameters = {"request": {"config": self.config, **request}} if request else None
        body: dict[str, Any] = {"state": {"type": "SCHEDULED"}}
        if parameters:
            body["parameters"] = parameters
        return call("POST", f"/deployments/{found['id']}/create_flow_run", body)["id"]

    def state(self, run: str) -> dict[str, Any]:
        return call("GET", f"/flow_runs/{run}")["state"]

    def wait(self, run: str, *types: str, timeout: float = 1200.0) -> dict[str, Any]:
        """Wait until a run is in a state of one of these types, or in any final one."""
        wanted = types or ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
        deadline = time.monotonic() + timeout
        while (state := self.state(run))["type"] not in wanted:
            assert time.monotonic() < deadline, (state, (self.folder / "worker.log").read_text(encoding="utf-8"))
            time.sleep(0.3)
        return state

    def wait_until_idle(self, timeout: float = 600.0) -> None:
        """Wait until the processes of the flows that the worker runs have ended."""
        assert self._worker is not None
        for process in _descendants(self._worker.pid):
            if _is_flow(process):
                _wait_for_end(process, timeout)

    def artifacts(self, run: str) -> dict[str, Any]:
        """By key, the artifacts of a flow run and of the sweep inside it."""
        inside = call("POST", "/flow_runs/filter", {"flow_runs": {"parent_flow_run_id": {"any_": [run]}}})
        ids = [run, *(own["id"] for own in inside)]
        found = call("POST", "/artifacts/filter", {"artifacts": {"flow_run_id": {"any_": ids}}})
        return {artifact["key"]: artifact for artifact in found}
