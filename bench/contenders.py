"""Ways of asking the same questions, each measured in a process of its own: `python -m bench.contenders NAME ...`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Ask = Callable[[int], Awaitable[Any]]

WARM_UP = 64
_WARM_UP_CELLS = 300
_KEY = "BENCH_KEY"


def question(number: int) -> str:
    return f"Is the number {number} even, and how can one tell from its last digit?"


def messages(number: int) -> list[dict[str, str]]:
    """The prompt that DSPy's chat adapter makes of a question, for those that do not go through DSPy."""
    import dspy

    if not _template:
        signature = dspy.ChainOfThought("question -> answer").predict.signature
        _template.extend(dspy.ChatAdapter().format(signature, [], {"question": "@@"}))
    return [{**message, "content": message["content"].replace("@@", question(number))} for message in _template]


_template: list[dict[str, str]] = []


async def spread(ask: Ask, total: int, concurrency: int, start: int = 0) -> None:
    numbers = iter(range(start, start + total))

    async def worker() -> None:
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(worker() for _ in range(concurrency)))


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rss_mb() -> float:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(total: int, run: Callable[[int, int], None]) -> dict[str, float]:
    """`run(total, start)` is called once to warm up and once for the record."""
    run(WARM_UP, 1_000_000)
    cpu, began = cpu_s(), time.perf_counter()
    run(total, 0)
    took = time.perf_counter() - began
    return {"rps": total / took, "cpu_ms": (cpu_s() - cpu) * 1000 / total, "rss_mb": rss_mb()}


def bare_aiohttp(url: str, total: int, concurrency: int) -> dict[str, float]:
    import aiohttp
    import orjson

    bodies = {n: orjson.dumps({"model": "loop", "messages": messages(n)}) for n in _numbers(total)}

    async def main() -> dict[str, float]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def ask(number: int) -> None:
                headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get(_KEY, '')}"}
                async with session.post(f"{url}/chat/completions", data=bodies[number], headers=headers) as reply:
                    orjson.loads(await reply.read())

            return await _measured_async(total, concurrency, ask)

    return asyncio.run(main())


def seedbed_gateway(url: str, total: int, concurrency: int) -> dict[str, float]:
    """The bare client in a process of its own, by the gateway of this one; the CPU is the gateway's."""
    from seedbed.lm.attempts import Binding
    from seedbed.lm.gateway import gateway_of
    from seedbed.lm.ledger import CallScope, Cap

    with tempfile.TemporaryDirectory() as folder:
        runtime = _runtime(Path(folder), url, concurrency)
        model = runtime._models["m"]
        caps = (Cap("sweep:bench", 1e6), Cap("cell:cell", 1e6))

        def bind(role: str) -> Binding:
            return Binding(CallScope("bench", "cell", "generate", role, "e", "m", 0), model, caps)

        gateway = gateway_of(runtime)
        key, base = gateway.grant(bind, "task", ("s", 0)).key, f"http://127.0.0.1:{gateway.port}/v1"
        options = ["--url", base, "--total", str(total), "--concurrency", str(concurrency)]
        began = cpu_s()
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", "bench.contenders", "aiohttp", *options],
            env={**os.environ, _KEY: key},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.strip().splitlines()[-1])
        found |= {"cpu_ms": (cpu_s() - began) * 1000 / (total + WARM_UP), "rss_mb": rss_mb()}
        runtime.close()
    return found


def openai_client(url: str, total: int, concurrency: int) -> dict[str, float]:
    from openai import AsyncOpenAI

    asked = {n: messages(n) for n in _numbers(total)}

    async def main() -> dict[str, float]:
        client = AsyncOpenAI(api_key="none", base_url=url, max_retries=0)

        async def ask(number: int) -> None:
            await client.chat.completions.create(model="loop", messages=asked[number])  # type: ignore[arg-type]

        return await _measured_async(total, concurrency, ask)

    return asyncio.run(main())


def litellm(url: str, total: int, concurrency: int) -> dict[str, float]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm as client

    client.suppress_debug_info = True
    asked = {n: messages(n) for n in _numbers(total)}

    async def main() -> dict[str, float]:
        async def ask(number: int) -> None:
            await client.acompletion(
                model="openai/loop", messages=asked[number], api_base=url, api_key="none", num_retries=0
            )

        return await _measured_async(total, concurrency, ask)

    return asyncio.run(main())


def dspy_evaluate(url: str, total: int, concurrency: int) -> dict[str, float]:
    import dspy

    dspy.configure(lm=dspy.LM("openai/loop", api_base=url, api_key="none", cache=False, num_retries=0))
    program = dspy.ChainOfThought("question -> answer")

    def run(count: int, start: int) -> None:
        cases = [dspy.Example(question=question(n)).with_inputs("question") for n in range(start, start + count)]
        evaluate = dspy.Evaluate(
            devset=cases, metric=lambda *_: 1.0, num_threads=concurrency, display_progress=False, max_errors=1
        )
        evaluate(program)

    return measured(total, run)


def seedbed(url: str, total: int, concurrency: int, *, ledger: bool = True) -> dict[str, float]:
    import dspy

    from seedbed.lm.adapter import quick_adapter
    from seedbed.lm.ledger import CallScope, Cap
    from seedbed.phases.run_all import run_all

    with tempfile.TemporaryDirectory() as folder:
        runtime = _runtime(Path(folder), url, concurrency)
        if not ledger:
            _disable_ledger(runtime)
        scope = CallScope("bench", "cell", "generate", "task", "e", "m", 0)
        lm = runtime.lm(scope, (Cap("sweep:bench", 1e6), Cap("cell:cell", 1e6)))
        program = dspy.ChainOfThought("question -> answer")

        async def ask(number: int) -> None:
            await program.acall(question=question(number))

        async def phase(count: int, start: int) -> None:
            with dspy.context(lm=lm, adapter=quick_adapter(), disable_history=True, track_usage=False):
                await run_all(runtime, range(start, start + count), ask, calls_at_once=concurrency)

        found = measured(total, lambda count, start: runtime.run(phase(count, start)))
        runtime.close()
    return found


def seedbed_phase(url: str, total: int, concurrency: int, *, processes: int = 1) -> dict[str, float]:
    """A whole generate phase: from the cases to the files, in one process or in several. The CPU is that of all."""
    from seedbed.lm.runtime import close_runtimes
    from seedbed.phases.prepare import prepare
    from seedbed.phases.run import run_phase
    from seedbed.storage.yamlfile import YamlFile
    from seedbed.sweep.config import check_config
    from seedbed.sweep.plan import make_plan

    with tempfile.TemporaryDirectory() as folder:
        config = {
            "name": "bench",
            "seeds": list(range(_WARM_UP_CELLS)),
            "models": {"m": _model(url, concurrency)},
            "budget": {"max_usd": 1e6, "max_usd_per_cell": 1e6},
            "experiments": [
                {
                    "suite": "questions",
                    "models": ["m"],
                    "benchmarks": ["warm_up", {"name": "questions", "limit": total}],
                    "systems": ["think"],
                }
            ],
            "plugins": ["bench.question_suite"],
            "runner": {"processes": processes},
        }
        source = YamlFile(Path("bench.yaml"), config, {})
        plan = make_plan(check_config(source), source)
        run = str(prepare(plan, Path(folder)))
        warm_up = [cell for cell in plan.cells if cell.benchmark == "warm_up"]
        questions = next(cell for cell in plan.cells if cell.benchmark == "questions")
        _until_at_work(run, [cell.id for cell in warm_up], processes)
        cpu, began = _cpu_with_helpers(), time.perf_counter()
        run_phase(run, questions.id, "generate")
        took = time.perf_counter() - began
        used = _cpu_with_helpers() - cpu
        close_runtimes()
    return {"rps": total / took, "cpu_ms": used * 1000 / total, "rss_mb": rss_mb()}


def _until_at_work(run: str, cells: list[str], processes: int) -> None:
    """Answer cells until all processes have, and one more."""
    from sqlalchemy import func, select

    from seedbed.lm.ledger import schema
    from seedbed.lm.ledger.database import reading
    from seedbed.phases.context import open_run
    from seedbed.phases.run import run_phase

    engine = open_run(run).runtime().ledger.engine
    come = False
    for cell in cells:
        run_phase(run, cell, "generate")
        if come:
            return
        with reading(engine) as connection:
            writers = connection.scalar(select(func.count(schema.attempts.c.owner.distinct())))
        come = writers == processes
    raise RuntimeError("not all processes came to work")


def seedbed_two(url: str, total: int, concurrency: int) -> dict[str, float]:
    return seedbed_phase(url, total, concurrency, processes=2)


def _cpu_with_helpers() -> float:
    """Of this process and of those it started, which have not ended."""
    ticks = 0
    for file in Path("/proc/self/task").glob("*/children"):
        for pid in file.read_text(encoding="utf-8").split():
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return cpu_s() + ticks / os.sysconf("SC_CLK_TCK")


def seedbed_without_ledger(url: str, total: int, concurrency: int) -> dict[str, float]:
    """Not a way to run Seedbed: shows what the ledger costs."""
    return seedbed(url, total, concurrency, ledger=False)


def seedbed_memory(url: str, total: int, concurrency: int) -> dict[str, float]:
    """Resident memory after 10,000 and after `total` calls of one phase."""
    import dspy

    from seedbed.lm.adapter import quick_adapter
    from seedbed.lm.ledger import CallScope
    from seedbed.phases.run_all import run_all

    with tempfile.TemporaryDirectory() as folder:
        runtime = _runtime(Path(folder), url, concurrency)
        lm = runtime.lm(CallScope("bench", "cell", "generate", "task", "e", "m", 0))
        program = dspy.ChainOfThought("question -> answer")
        found: dict[str, float] = {}

        async def ask(number: int) -> None:
            await program.acall(question=question(number))
            if number == 10_000:
                found["rss_10k_mb"] = rss_mb()

        async def phase() -> None:
            with dspy.context(lm=lm, adapter=quick_adapter(), disable_history=True, track_usage=False):
                await run_all(runtime, range(total), ask, calls_at_once=concurrency)

        runtime.run(phase())
        found["rss_end_mb"] = rss_mb()
        runtime.close()
    return found


def _runtime(folder: Path, url: str, concurrency: int) -> Any:
    from seedbed.lm.runtime import LMRuntime
    from seedbed.sweep.model_config import ModelConfig

    model = ModelConfig.model_validate(_model(url, concurrency))
    return LMRuntime(f"sqlite:///{folder}/ledger.sqlite", {"m": model})


def _model(url: str, concurrency: int) -> dict[str, Any]:
    return {
        "model": "openai/loop",
        "api_base": url,
        "max_tokens": 200,
        "price": {"input": 0.4, "output": 1.6},
        "limits": {"concurrency": concurrency},
    }


def _disable_ledger(runtime: Any) -> None:
    from seedbed.lm.ledger import Granted

    def begin(_item: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        future.set_result(Granted(0))
        return future

    def end(_item: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        future.set_result(None)
        return future

    runtime.ledger.begin, runtime.ledger.end = begin, end


async def _measured_async(total: int, concurrency: int, ask: Ask) -> dict[str, float]:
    await spread(ask, WARM_UP, concurrency, 1_000_000)
    cpu, began = cpu_s(), time.perf_counter()
    await spread(ask, total, concurrency)
    took = time.perf_counter() - began
    return {"rps": total / took, "cpu_ms": (cpu_s() - cpu) * 1000 / total, "rss_mb": rss_mb()}


def _numbers(total: int) -> list[int]:
    return [*range(1_000_000, 1_000_000 + WARM_UP), *range(total)]


CONTENDERS: dict[str, Callable[[str, int, int], dict[str, float]]] = {
    "aiohttp": bare_aiohttp,
    "seedbed": seedbed,
    "seedbed_phase": seedbed_phase,
    "seedbed_two": seedbed_two,
    "seedbed_gateway": seedbed_gateway,
    "seedbed_without_ledger": seedbed_without_ledger,
    "seedbed_memory": seedbed_memory,
    "dspy_evaluate": dspy_evaluate,
    "litellm": litellm,
    "openai": openai_client,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(CONTENDERS))
    parser.add_argument("--url", required=True)
    parser.add_argument("--total", type=int, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    arguments = parser.parse_args()
    found = CONTENDERS[arguments.name](arguments.url, arguments.total, arguments.concurrency)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
