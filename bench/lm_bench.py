"""What a call costs: Seedbed beside bare aiohttp, dspy.Evaluate, litellm, the openai client and inspect_ai.

One loopback server in a process of its own, the same questions, each contender in a process of its own. `python -m
bench` prints the table and writes it to bench_results/; docs/benchmarks.md holds one such run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench_results"

CONTENDERS = {
    "aiohttp": "bare aiohttp (the limit)",
    "seedbed": "Seedbed, ledger on",
    "seedbed_phase": "Seedbed, a phase from cases to files",
    "seedbed_two": "Seedbed, the same phase in two processes",
    "seedbed_gateway": "Seedbed's gateway, bare aiohttp before it",
    "dspy_evaluate": "dspy.Evaluate + dspy.LM",
    "litellm": "litellm.acompletion",
    "openai": "openai.AsyncOpenAI",
    "inspect_ai": "inspect_ai",
}


_REPEATED = ("aiohttp", "seedbed", "seedbed_phase", "seedbed_two", "seedbed_gateway", "dspy_evaluate")


@dataclass(frozen=True)
class Setting:
    latency_ms: int
    concurrency: int

    @property
    def name(self) -> str:
        return f"{self.latency_ms} ms, {self.concurrency} at once"


SETTINGS = tuple(Setting(latency, concurrency) for latency in (50, 500) for concurrency in (64, 256))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--total", type=int, default=2000, help="questions of a run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of the fast contenders; the fastest run counts")
    parser.add_argument("--only", action="append", choices=sorted(CONTENDERS), help="leave the others out")
    parser.add_argument("--no-memory", action="store_true", help="leave out the 50,000 calls")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    names = [name for name in CONTENDERS if not arguments.only or name in arguments.only]
    inspect = _inspect_python() if "inspect_ai" in names else None
    if "inspect_ai" in names and inspect is None:
        names.remove("inspect_ai")
    found: dict[str, dict[str, Any]] = {}
    for setting in SETTINGS:
        with _server(setting.latency_ms) as url:
            found[setting.name] = {
                name: _best(name, url, setting, arguments.total, arguments.rounds, inspect) for name in names
            }
    ledger = _json([sys.executable, "-m", "bench.ledger_cost", "4000"])
    memory = None if arguments.no_memory else _memory()
    text = _report(found, ledger, memory)
    print(text)
    (RESULTS / "lm_bench.md").write_text(text, encoding="utf-8")
    results = {"machine": _machine(), "runs": found, "ledger": ledger, "memory": memory}
    (RESULTS / "lm_bench.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


@contextmanager
def _server(latency_ms: float) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.quick_server", "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:  # noqa: S603
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _best(
    name: str, url: str, setting: Setting, total: int, rounds: int, inspect: Path | None
) -> dict[str, float] | None:
    # The slow ones need no second run to show it.
    runs = [_run(name, url, setting, total, inspect) for _ in range(rounds if name in _REPEATED else 1)]
    done = [run for run in runs if run is not None]
    if not done:
        return None
    best = max(done, key=lambda run: run["rps"])
    print(f"  {setting.name:<22} {name:<14} {best['rps']:8.0f} requests/s {best['cpu_ms']:7.2f} ms CPU", flush=True)
    return best


def _run(name: str, url: str, setting: Setting, total: int, inspect: Path | None) -> dict[str, float] | None:
    options = ["--url", url, "--total", str(total), "--concurrency", str(setting.concurrency)]
    if name != "inspect_ai":
        return _json([sys.executable, "-m", "bench.contenders", name, *options])
    from bench.contenders import messages, question

    template = json.dumps(messages(0)).replace(question(0), question(0).replace("0", "@@", 1))
    assert inspect is not None
    extra = ["--messages", template, "--logs", str(RESULTS / "inspect_logs")]
    return _json([str(inspect), str(ROOT / "bench" / "inspect_run.py"), *options, *extra])


def _memory() -> dict[str, float] | None:
    with _server(0) as url:
        options = ["--url", url, "--total", "50000", "--concurrency", "64"]
        return _json([sys.executable, "-m", "bench.contenders", "seedbed_memory", *options])


def _json(command: list[str]) -> dict[str, float] | None:
    # Proxies cannot reach loopback, and not every contender knows that.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=1800)  # noqa: S603
    if done.returncode != 0:
        print(f"  failed: {' '.join(command[:4])}\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def _inspect_python() -> Path | None:
    """The interpreter of inspect_ai's own environment, made at the first run: its pins and ours need not agree."""
    folder = RESULTS / "inspect_venv"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "inspect_ai",
            "openai",
        ]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if done.returncode != 0:
            print(f"inspect_ai is left out: it could not be installed ({done.stderr.strip().splitlines()[-1]})")
            return None
        (folder / "ready").touch()
    return python


def _report(found: dict[str, dict[str, Any]], ledger: Any, memory: Any) -> str:
    lines = [f"{_machine()}\n", f"| | {' | '.join(found)} |", f"|---|{'---:|' * len(found)}"]
    for name, title in CONTENDERS.items():
        cells: list[str] = []
        for runs in found.values():
            run = runs.get(name)
            cells.append(f"{run['rps']:.0f}/s, {run['cpu_ms']:.2f} ms" if run else "-")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines.append("\nRequests a second, CPU milliseconds a request of the calling processes.\n")
    for setting, runs in found.items():
        ours = runs.get("seedbed")
        lines.extend(
            f"- {setting}: Seedbed is {ours['rps'] / runs[name]['rps']:.2f} x {CONTENDERS[name]}"
            for name in ("aiohttp", "dspy_evaluate", "inspect_ai")
            if ours and runs.get(name)
        )
        two = runs.get("seedbed_two")
        lines.extend(
            f"- {setting}: two processes are {two['rps'] / runs[name]['rps']:.2f} x {CONTENDERS[name]}"
            for name in ("aiohttp", "seedbed_phase")
            if two and runs.get(name)
        )
        if ours and runs.get("seedbed_gateway"):
            lines.append(f"- {setting}: the gateway is {runs['seedbed_gateway']['rps'] / ours['rps']:.2f} x Seedbed")
    if ledger:
        lines.append(f"- the ledger costs {ledger['ledger_cpu_ms']:.3f} ms CPU a call")
    if memory:
        early, late = memory["rss_10k_mb"], memory["rss_end_mb"]
        lines.append(f"- resident memory after 10,000 calls {early:.0f} MB, after 50,000 {late:.0f} MB")
    return "\n".join(lines) + "\n"


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
