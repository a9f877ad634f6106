"""The Prefect server is killed in mid-sweep: the sweep ends by itself, with its table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.local import server
from seedbed.local.server import Server
from tests.support.loopback import Loopback
from tests.support.ports import quiet_port
from tests.support.sweeps import Sweep


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that no other test needs."""
    port = quiet_port()
    for name in ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SEEDBED_PORT", str(port))
    yield server.start()
    server.stop()


def _killed_in_mid_sweep(sweep: Sweep, own_server: Server) -> tuple[int, str, str]:
    process = sweep.start()
    deadline = time.monotonic() + 600
    while sweep.server.books.requests < 6:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(own_server.pid, signal.SIGKILL)
    out, err = process.communicate(timeout=1200)
    return process.returncode, out, err


def test_the_server_is_started_again_and_the_sweep_goes_on(tmp_path: Path, own_server: Server) -> None:
    with Loopback(latency_s=0.5) as endpoint:
        code, out, err = _killed_in_mid_sweep(Sweep(tmp_path, endpoint), own_server)
    assert code == 0, err
    assert "summary.md" in out
    assert "was started again" in err
    found = server.running()
    assert found is not None
    assert found.port == own_server.port
    assert found.pid != own_server.pid


def test_a_sweep_on_somebody_elses_server_ends_without_it_and_says_what_the_ui_lacks(
    tmp_path: Path, own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = subprocess.run(
        [sys.executable, "-m", "seedbed", "server", "env"], capture_output=True, text=True, timeout=600, check=True
    )
    for line in settings.stdout.splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "elsewhere"))
    with Loopback(latency_s=0.5) as endpoint:
        code, out, err = _killed_in_mid_sweep(Sweep(tmp_path, endpoint), own_server)
    assert code == 0, err
    assert "summary.md" in out
    assert "its UI lacks the end of this sweep" in err
    assert "Traceback" not in out
