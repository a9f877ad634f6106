"""What is attacked: a sweep over all suites against the loopback server, in processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep

ROOT = Path(__file__).parents[3]
PRICE = (2.0, 8.0)
CONFIG = """\
name: campaign
seeds: {seeds}
models:
  m:
    model: openai/loop
    api_base: {{url}}
    temperature: 0.7
    max_tokens: 100
    price: {{{{input: 2.0, output: 8.0}}}}
    backoff_s: 0.05
    retries: 8
    timeout_s: 30
    limits: {{{{concurrency: 8}}}}
roles: {{{{judge: m, translator: m, reflection: m}}}}
experiments:
  - suite: crosslingual
    models: [m]
    benchmarks: [{{{{name: tiny, limit: {cases}}}}}]
    systems: [direct, {{{{name: lbrag, budget: 35}}}}]
  - suite: contract_risk
    models: [m]
    benchmarks: [{{{{name: clauses, limit: {cases}}}}}]
    systems: [full]
  - suite: rag_quality
    models: [m]
    benchmarks: [{{{{name: sample, limit: {cases}}}}}]
    systems: [bm25_rag]
  - suite: prompt_optimization
    models: [m]
    benchmarks: [{{{{name: IFBench, limit: {cases}}}}}]
    systems: [IFBenchCoT2StageProgram]
    optimizers: {optimizers}
  - suite: finance_dialog
    models: [m]
    benchmarks: [{{{{name: dialogues, limit: 1}}}}]
    systems: [memory_agent]
max_error_share: 1.0
runner: {{{{kind: threads, workers: 4}}}}
"""
WHOLE = {"seeds": "[0, 1]", "cases": 3, "optimizers": "[Baseline, GEPA-1]"}
SMALL = {"seeds": "[0]", "cases": 2, "optimizers": "[Baseline]"}


class Hang(Exception):
    """A sweep that does not end by itself."""


class Target(Sweep):
    """A sweep in a folder. `whole` runs it as a user does, with Prefect; else the phases of fewer cells alone."""

    def __init__(self, folder: Path, server: Loopback, *, whole: bool) -> None:
        super().__init__(folder, server, template=CONFIG.format(**(WHOLE if whole else SMALL)))
        self.whole = whole

    def begin(self, *overrides: str, environment: Mapping[str, str] | None = None) -> Attacked:
        if self.whole:
            sets = [word for override in overrides for word in ("--set", override)]
            command = ["seedbed", "run", str(self.config), "--out", str(self.out), *sets]
        else:
            command = ["tests.support.cells", str(self.config), str(self.out), *overrides]
        log = self.config.with_name("said.log").open("ab")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
                cwd=self.config.parent,
                start_new_session=True,
            )
        return Attacked(process, self.server)

    @property
    def said(self) -> str:
        """All that its processes printed."""
        return self.config.with_name("said.log").read_text(encoding="utf-8", errors="replace")


class Attacked:
    """One process of it."""

    def __init__(self, process: subprocess.Popen[bytes], server: Loopback) -> None:
        self.process = process
        self._server = server
        self._before = server.books.requests

    @property
    def requests(self) -> int:
        """How many came since it began."""
        return self._server.books.requests - self._before

    def wait_until(self, happened: Callable[[], bool], limit_s: float) -> bool:
        """Whether it happened before the process ended."""
        deadline = time.monotonic() + limit_s
        while not happened():
            if self.process.poll() is not None:
                return False
            self._check(deadline)
            time.sleep(0.01)
        return True

    def end(self, limit_s: float) -> int:
        """Its exit code. One that does not come is a hang: all its threads then say where they are."""
        try:
            return self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._check(0.0)
            raise AssertionError from None

    def send(self, number: signal.Signals) -> None:
        """To the process and all it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.process.wait()

    def _check(self, deadline: float) -> None:
        if time.monotonic() < deadline:
            return
        self.process.send_signal(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.kill()
        raise Hang(f"process {self.process.pid} did not end by itself; the log says where its threads were")
