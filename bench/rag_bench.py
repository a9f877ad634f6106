"""Six RAG metrics, side by side with ragas: calls, prompt tokens and seconds on the same cases with a fake LM.

ragas gets a venv of its own under bench_results/, since its dependencies do not go with Seedbed's. Where it cannot be
installed or imported, the reason is printed and Seedbed's figures stand alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import select

from seedbed.lm.ledger.reads import history
from seedbed.lm.ledger.schema import attempts
from seedbed.lm.nominal_tokens import count_tokens
from seedbed.lm.session import open_session
from seedbed.suites.rag_quality.cases import load
from seedbed.suites.rag_quality.evalcase import EvalCase
from seedbed.suites.rag_quality.evaluate import evaluate
from seedbed.suites.rag_quality.judge import Judge
from seedbed.suites.rag_quality.options import CaseOptions
from seedbed.sweep.model_config import Limits, ModelConfig

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / "bench_results" / "ragas-venv"
PINS = ("ragas>=0.4,<0.5", "langchain-community==0.4.1")
COLUMNS = ("", "k", "cases", "calls", "calls a case", "prompt tokens", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--latency-ms", type=float, default=500.0)
    parser.add_argument("--at-once", type=int, default=4)
    arguments = parser.parse_args()
    problem = _prepare_venv()
    rows: list[tuple[Any, ...]] = []
    for k in (2, 8):
        cases = _cases(arguments.cases, k)
        rows.append(("seedbed", k, len(cases), *_seedbed(cases, arguments.latency_ms, arguments.at_once)))
        if problem is None:
            rows.append(("ragas", k, len(cases), *_ragas(cases, arguments.latency_ms, arguments.at_once)))
    _print(rows)
    if problem is not None:
        print(f"\nragas could not be run: {problem}")
    else:
        print(
            "\nTokens are counted alike on both sides, by Seedbed's nominal counter. Those of ragas are without the "
            "JSON schema that instructor adds to every request; those of Seedbed hold all that is sent.\n"
            f"Each call of the fake LM takes {arguments.latency_ms:g} ms, {arguments.at_once} cases are judged at "
            "once. Seedbed's seconds include its ledger."
        )


def _cases(count: int, k: int) -> list[EvalCase]:
    """Sample cases that have all six metrics, with exactly k contexts: their own, then those of others."""
    benchmark = load(CaseOptions())
    held: list[EvalCase] = list(benchmark.resources["cases"].values())
    full = [case for case in held if case.answer and case.retrieved_contexts and case.ground_truth_contexts]
    texts = [passage.text for passage in benchmark.resources["passages"].things]
    return [
        case.model_copy(update={"retrieved_contexts": list(dict.fromkeys([*case.retrieved_contexts, *texts]))[:k]})
        for case in full[:count]
        if case.retrieved_contexts is not None
    ]


def _seedbed(cases: list[EvalCase], latency_ms: float, at_once: int) -> tuple[Any, ...]:
    """Through the whole LM layer: limits, ledger and all. The fake LM is the offline model."""
    model = ModelConfig(model="offline/judge", limits=Limits(concurrency=64), options={"latency_ms": latency_ms})
    with (
        tempfile.TemporaryDirectory() as folder,
        open_session("score", "bench", model, Path(folder) / "ledger.sqlite") as session,
    ):
        judge = Judge(session.lm("judge"))
        session.run(session.each({"warm": EvalCase(question="q?", answer="a")}, lambda case: evaluate(case, judge)))
        started = time.perf_counter()
        keyed = {str(i): case for i, case in enumerate(cases)}
        session.run(session.each(keyed, lambda case: evaluate(case, judge), at_once=at_once))
        seconds = time.perf_counter() - started
        rows = list(history(session.runtime.ledger.engine, "bench", [session.execution]))
        with session.runtime.ledger.engine.connect() as connection:
            calls = len(connection.execute(select(attempts.c.id).where(attempts.c.sample != "warm")).all())
        tokens = sum(_tokens(row["request"]) for row in rows if row["sample"] != "warm")
    return calls, calls / len(cases), tokens, seconds


def _tokens(request: dict[str, Any]) -> int:
    return sum(count_tokens(str(message["content"])) for message in request["messages"])


def _ragas(cases: list[EvalCase], latency_ms: float, at_once: int) -> tuple[Any, ...]:
    with tempfile.TemporaryDirectory() as folder:
        file, prompts = Path(folder) / "cases.json", Path(folder) / "prompts.jsonl"
        file.write_text(json.dumps([case.model_dump() for case in cases]), encoding="utf-8")
        command = [str(VENV / "bin" / "python"), str(HERE / "rag_bench_ragas.py"), str(file), str(latency_ms)]
        done = _run(*command, str(at_once), str(prompts))
        if done.returncode != 0:
            sys.exit(f"ragas failed:\n{done.stderr[-2000:]}")
        result = json.loads(done.stdout.strip().splitlines()[-1])
        tokens = sum(count_tokens(json.loads(line)) for line in prompts.open(encoding="utf-8"))
    return result["calls"], result["calls"] / len(cases), tokens, result["seconds"]


def _prepare_venv() -> str | None:
    """Make the venv if it is not there; returns why ragas cannot be used, or None."""
    python = VENV / "bin" / "python"
    if not python.exists():
        VENV.parent.mkdir(exist_ok=True)
        _run(sys.executable, "-m", "venv", str(VENV))
        done = _run(str(python), "-m", "pip", "install", "-q", *PINS)
        if done.returncode != 0:
            return f"pip install {' '.join(PINS)}: {_last_line(done.stderr)}"
    tried = _run(str(python), "-c", "import ragas.metrics.collections")
    return None if tried.returncode == 0 else _last_line(tried.stderr)


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own commands


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given")


def _print(rows: list[tuple[Any, ...]]) -> None:
    shown = [COLUMNS, *(tuple(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row) for row in rows)]
    widths = [max(len(row[i]) for row in shown) for i in range(len(COLUMNS))]
    for row in shown:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


if __name__ == "__main__":
    main()
