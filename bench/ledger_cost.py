"""What the ledger costs a call: the same empty calls with and without it, in CPU time."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from typing import Any

import orjson

from bench.contenders import cpu_s, messages, spread
from seedbed.lm.ledger import Begin, CallScope, Cap, End, Granted, Ledger
from seedbed.lm.types import Usage

CONCURRENCY = 64
LATENCY_S = 0.05


async def _run(ledger: Ledger | None, total: int, start: int) -> None:
    scope = CallScope("bench", "cell", "generate", "task", "e", "m", 0)
    caps = (Cap("sweep:bench", 1e6), Cap("cell:cell", 1e6))
    reply = orjson.dumps({"choices": [{"message": {"role": "assistant", "content": "yes, its last digit is even"}}]})

    async def ask(number: int) -> None:
        request = orjson.dumps({"model": "openai/loop", "messages": messages(number)})
        if ledger is None:
            await asyncio.sleep(LATENCY_S)
            return
        begin = Begin(scope, f"{number:064x}", 1, f"q{number}", request, 0.001, caps)
        granted: Any = await ledger.begin(begin)
        assert isinstance(granted, Granted)
        await asyncio.sleep(LATENCY_S)
        await ledger.end(End(granted.attempt_id, begin, "paid", Usage(200, 20), 1e-4, 1e-4, 0.0, 0.05, response=reply))

    await spread(ask, total, CONCURRENCY, start)


def measure(total: int) -> dict[str, float]:
    """CPU milliseconds a call without and with the ledger, and their difference."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(f"sqlite:///{folder}/ledger.sqlite", list_price=lambda _name, _usage: 0.0)
        for name, used in (("without", None), ("with", ledger)):
            asyncio.run(_run(used, 200, 10_000_000))
            cpu, began = cpu_s(), time.perf_counter()
            asyncio.run(_run(used, total, 0))
            found[f"{name}_cpu_ms"] = (cpu_s() - cpu) * 1000 / total
            found[f"{name}_rps"] = total / (time.perf_counter() - began)
        ledger.close()
    found["ledger_cpu_ms"] = found["with_cpu_ms"] - found["without_cpu_ms"]
    return found


if __name__ == "__main__":
    json.dump(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 4000), sys.stdout)
