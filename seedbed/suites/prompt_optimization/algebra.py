"""Whether two expressions in LaTeX are equal. A process of its own finds it out, since sympy may take any time and any
memory over a strange input, and a thread cannot be stopped."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path

import seedbed

TIME_LIMIT_S = 8.0
"""Longer than this no comparison takes; what is not found equal by then is unequal, as it is to LiveBench."""
_LONGEST = 2000
"""Characters of an expression that is looked at; no answer of a benchmark is nearly as long."""
_WORKER = "seedbed.suites.prompt_optimization.algebra_worker"


class Algebra:
    """Compares one pair at a time. The process is started at the first, and anew after one that took too long."""

    def __init__(self, limit_s: float = TIME_LIMIT_S) -> None:
        self._limit = limit_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def equal(self, left: str, right: str) -> bool:
        """False also where either is no expression, or the time is up."""
        if max(len(left), len(right)) > _LONGEST:
            return False
        with self._lock:
            return self._ask(left, right)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, left: str, right: str) -> bool:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(self._limit, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps([left, right]) + "\n")
            process.stdin.flush()
            reply = process.stdout.readline()
        except BrokenPipeError:
            reply = ""
        finally:
            timer.cancel()
        if not reply:
            self.close()
        return reply.strip() == "true"

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": _path()},
                # Ctrl-C is told to all of a terminal's group, and a pair that it breaks off would count as unequal.
                start_new_session=True,
            )
            assert self._process.stdout is not None
            # It says so when it is ready: importing sympy takes its time, which is no answer's fault.
            if not self._process.stdout.readline():
                raise RuntimeError("the process that compares expressions did not start; is sympy installed?")
        return self._process


def _path() -> str:
    """Where the worker finds this library, however the process that asks has found it."""
    root = str(Path(seedbed.__file__).parent.parent)
    return os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))


@lru_cache(maxsize=4096)
def equal_expressions(left: str, right: str) -> bool:
    """Two expressions in LaTeX, by a process that all callers share."""
    return _SHARED.equal(left, right)


_SHARED = Algebra()
atexit.register(_SHARED.close)
