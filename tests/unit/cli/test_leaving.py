"""A process that is on its way out: its exit code stands, whatever signal comes then."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CONFIG = """\
name: leaving
seeds: [0]
models: {m: {model: offline/m}}
experiments: [{suite: crosslingual, models: [m], benchmarks: [tiny], systems: [direct]}]
plugins: [signalling]
"""
PLUGIN = """\
import atexit, os, signal, sys

def again(*_, kill=os.kill, pid=os.getpid(), number=signal.%(second)s):
    kill(pid, number)  # nothing else is there any more when modules go

class Last:
    __del__ = again

sys.seedbed_last = Last() if %(late)s else atexit.register(again)
first = %(first)s
if first:
    os.kill(os.getpid(), first)
raise ValueError("not heard")
"""


@pytest.mark.parametrize(
    ("first", "second", "code", "late"),
    [
        ("SIGTERM", "SIGINT", 143, False),
        ("SIGINT", "SIGTERM", 130, True),
        ("SIGINT", "SIGINT", 130, False),
        ("SIGHUP", "SIGHUP", 129, True),
        ("0", "SIGTERM", 2, True),
        ("0", "SIGHUP", 2, False),
    ],
)
def test_a_signal_on_the_way_out_changes_nothing(
    tmp_path: Path, first: str, second: str, code: int, late: bool
) -> None:
    (tmp_path / "sweep.yaml").write_text(CONFIG, encoding="utf-8")
    plugin = PLUGIN % {"first": first, "second": second, "late": late}
    (tmp_path / "signalling.py").write_text(plugin.replace("first = SIG", "first = signal.SIG"), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "seedbed", "plan", "sweep.yaml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == code, (ran.stderr, signal.Signals(-ran.returncode) if ran.returncode < 0 else None)
    assert ("To go on: seedbed plan sweep.yaml" if code > 2 else "not heard") in ran.stderr
    assert "Traceback" not in ran.stderr
