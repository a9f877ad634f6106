"""Many calls in batches: memory while they wait, polls, dollars, and processes that share batches.

python -m bench.batch_load --calls 10000 --size 1000 [--processes 2] [--cap 0.5]

With a cap below what all calls cost, it is reached: what was spent and is reserved stays below it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.lm import caps, dollars, model, scope, sums

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--cap", type=float, default=100.0, help="dollars, of all processes together")
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part is not None:
        folder, port, number = asked.part
        print(json.dumps(_ask(Path(folder), int(port), int(number), asked)))
        return
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.batch_loopback", "40"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            own = ["--calls", str(asked.calls // asked.processes), "--size", str(asked.size),
                   "--cap", str(asked.cap)]  # fmt: skip
            parts = [
                subprocess.Popen(  # noqa: S603 - ourselves
                    [sys.executable, "-m", "bench.batch_load", *own, "--part", folder, port, str(number)],
                    stdout=subprocess.PIPE, text=True, cwd=ROOT,
                )
                for number in range(asked.processes)
            ]  # fmt: skip
            for part in parts:
                print("process:", part.communicate()[0].strip())
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as reply:
                books = json.loads(reply.read())
            found = sums(Path(folder))
        print("server:", books)
        print("ledger:", found)
        billed = dollars(books["tokens_in"], books["tokens_out"]) / 2
        print(f"billed ${billed:.9f}, ledger ${found.spent_usd:.9f}, difference {abs(billed - found.spent_usd):.1e}")
    finally:
        server.kill()


def _ask(folder: Path, port: int, number: int, asked: argparse.Namespace) -> dict[str, Any]:
    from seedbed.errors import BudgetReached
    from seedbed.lm.runtime import LMRuntime
    from tests.support.lm import ledger_url

    class At:
        url = f"http://127.0.0.1:{port}/v1"

    calls: int = asked.calls
    batch = {"size": asked.size, "age_s": 5, "poll_s": 0.5}
    chosen: Any = model(At, service="batch", batch=batch)  # type: ignore[arg-type]
    made = LMRuntime(ledger_url(folder), {"m": chosen})
    lm = made.lm(scope(cell=f"c{number}"), caps(asked.cap))
    before, memory, done, refused = _rss_mb(), list[tuple[int, float]](), [0], [0]

    async def one(question: int) -> None:
        try:
            await lm.acall(f"Process {number}: is {question} even?")
        except BudgetReached:
            refused[0] += 1
        else:
            done[0] += 1

    async def everything() -> None:
        tasks = [asyncio.ensure_future(one(question)) for question in range(calls)]
        while done[0] + refused[0] < calls:
            await asyncio.wait(tasks, timeout=2.0)
            memory.append((done[0], _rss_mb()))

    made.run(everything())
    made.close()
    peak = max(size for _, size in memory)
    first = next(size for count, size in memory if count or size == peak)
    return {"answered": done[0], "refused": refused[0], "rss_mb_before": before, "rss_mb_at_the_first_answers": first,
            "rss_mb_peak": peak, "by_answers": memory[:: max(1, len(memory) // 8)]}  # fmt: skip


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return round(pages * 4096 / 1e6, 1)


if __name__ == "__main__":
    main()
