"""A process that asks questions through a ledger, to be several of: `Worker` starts one, `main` is what it runs.

It opens its ledger, waits until it knows of as many processes at work as it was told, says so, and begins when it gets
a line on its standard input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support import forked
from tests.support.lm import caps, model, scope
from tests.support.loopback import Loopback

ROOT = Path(__file__).parents[2]


class Worker:
    """A running process. `go` lets it begin, `result` waits for its end."""

    def __init__(
        self,
        url: str,
        server: Loopback,
        *,
        questions: range,
        cell: str = "c",
        peers: int = 1,
        max_usd: float | None = None,
        at_once: int = 64,
        execution: str = "e1",
        **model_changes: Any,
    ) -> None:
        task = {
            "url": url,
            "model": model(server, **model_changes).model_dump(mode="json"),
            "questions": [questions.start, questions.stop],
            "cell": cell,
            "peers": peers,
            "max_usd": max_usd,
            "at_once": at_once,
            "execution": execution,
        }
        self.process = forked.Popen(
            [sys.executable, "-m", "tests.support.worker", json.dumps(task)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=dict(os.environ),
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def result(self, timeout: float = 120.0) -> dict[str, Any]:
        out, _ = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, out
        return json.loads(out.splitlines()[-1])

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self.process.communicate()


def run_together(workers: list[Worker]) -> list[dict[str, Any]]:
    """Let all begin once all are ready; their results."""
    for worker in workers:
        worker.wait_until_ready()
    for worker in workers:
        worker.go()
    return [worker.result() for worker in workers]


def main() -> None:
    from seedbed.errors import BudgetReached
    from seedbed.lm.runtime import LMRuntime
    from seedbed.phases.run_all import run_all
    from seedbed.sweep.model_config import ModelConfig

    task = json.loads(sys.argv[1])
    made = LMRuntime(task["url"], {"m": ModelConfig.model_validate(task["model"])})
    while made.ledger.peers < task["peers"]:
        time.sleep(0.02)
    print("ready", flush=True)
    sys.stdin.readline()
    cell = task["cell"]
    lm = made.lm(
        scope(cell=cell, execution=task["execution"]), () if task["max_usd"] is None else caps(task["max_usd"])
    )
    answered: list[int] = []

    async def one(number: int) -> None:
        with suppress(Exception):
            await lm.acall(f"Is {number} even?")
            answered.append(number)

    with suppress(BudgetReached):
        made.run(run_all(made, range(*task["questions"]), one, calls_at_once=task["at_once"], cell=cell))
    reason = made._stops.reason(cell)  # type: ignore[attr-defined]
    made.close()
    print(json.dumps({"answered": len(answered), "stopped": type(reason).__name__ if reason else None}))


if __name__ == "__main__":
    main()
