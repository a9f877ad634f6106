"""SIGTERM and SIGHUP are as Ctrl-C, at any moment: the summary, the command to go on, the exit code a shell expects."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep

pytestmark = pytest.mark.usefixtures("seedbed_home")

ENDS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def _until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 600
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _listens(process: subprocess.Popen[str]) -> bool:
    """Whether a handler of its own is there for SIGTERM: the first moment at which a process can say anything."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_in_mid_sweep_ends_with_the_summary_and_the_command_to_go_on(tmp_path: Path, number: int) -> None:
    with Loopback(latency_s=0.3) as server:
        sweep = Sweep(tmp_path, server)
        process = sweep.start()
        _until(lambda: server.books.requests >= 8, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 128 + number, err
    assert "summary.md" in out
    assert f"To go on: seedbed run {sweep.config}" in err
    assert "Traceback" not in out + err
    # Calls in flight had their moment.
    assert sweep.outcomes()["lost"] == 0


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_in_the_first_moment_is_heard(tmp_path: Path, number: int) -> None:
    with Loopback() as server:
        sweep = Sweep(tmp_path, server)
        process = sweep.start("--fresh")
        _until(lambda: _listens(process), process)
        process.send_signal(number)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 128 + number, err
    assert f"To go on: seedbed run {sweep.config}" in err
    assert "--fresh" in err, "nothing was done yet, so going on is starting"
    assert "Traceback" not in out + err


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_before_the_first_moment_leaves_no_traceback(tmp_path: Path, number: int) -> None:
    with Loopback() as server:
        process = Sweep(tmp_path, server).start()
        process.send_signal(number)
        out, err = process.communicate(timeout=600)
    assert process.returncode in (-number, 128 + number)
    assert "seedbed/" not in out + err


def test_calls_in_flight_for_scores_get_their_moment_too(tmp_path: Path) -> None:
    with Loopback(latency_s=0.5) as server:
        sweep = Sweep(tmp_path, server, "roles: {judge: m}\n")
        process = sweep.start("--set", "experiments.0.systems=[once]", "--set", "seeds=[0]")
        # 12 answers, then the judge.
        _until(lambda: server.books.requests > 12, process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 143, err
    assert sweep.outcomes()["lost"] == 0


def test_a_cells_cap_reached_by_the_judge_is_a_budget_that_was_reached(tmp_path: Path) -> None:
    with Loopback() as server:
        sweep = Sweep(tmp_path, server, "roles: {judge: m}\n")
        set_to = ["experiments.0.systems=[once]", "seeds=[0]", "models.m.limits.concurrency=1"]
        words = [word for override in set_to for word in ("--set", override)]
        assert sweep.run(*words)[0] == 0
        spent = sum(row.spent_usd for row in sweep.attempts()[:14])
        shutil.rmtree(sweep.out)
        code, out, err = sweep.run(*words, "--set", f"budget.max_usd_per_cell={spent + 0.0011}")
    assert code == 1
    assert "loop: budget_reached, 0 of 1 cells have results" in out, out
    assert "The budget is used up" in err


def test_a_second_signal_ends_at_once_and_says_how_to_go_on(tmp_path: Path) -> None:
    with Loopback(latency_s=60) as server:
        sweep = Sweep(tmp_path, server)
        process = sweep.start()
        _until(lambda: server.books.requests >= 4, process)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
    assert process.returncode in (130, 143), err
    assert f"Stopped at once. Everything paid for is kept. To go on: seedbed run {sweep.config}" in err
    assert "Traceback" not in out + err


def test_a_terminal_that_is_closed_gives_calls_in_flight_their_moment(tmp_path: Path) -> None:
    with Loopback(latency_s=0.3) as server:
        sweep = Sweep(tmp_path, server)
        command = [sys.executable, "-m", "seedbed", "run", str(sweep.config), "--out", str(sweep.out)]
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(tmp_path)
            os.execv(command[0], command)
        os.set_blocking(terminal, False)
        deadline = time.monotonic() + 600
        while server.books.requests < 8:
            assert time.monotonic() < deadline
            with suppress(BlockingIOError):
                os.read(terminal, 1 << 16)
            time.sleep(0.01)
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    # Of what is written from then on nobody reads a word, and none of it is an error that ends the sweep.
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    assert sweep.outcomes()["lost"] == 0
    summary = json.loads(next(sweep.out.glob("sweeps/loop/*/summary.json")).read_text(encoding="utf-8"))
    assert summary["status"] == "interrupted"
