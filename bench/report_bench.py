"""Seconds and memory to aggregate and to write the report of 100, 300 and 1,000 cells of 300 samples each.

    python -m bench.report_bench

Cells are written as a sweep leaves them (scores, predictions, calls with prompts, markers), ten systems on as many
benchmarks as it takes, five seeds. Each size is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from seedbed.analysis.means import mean
from seedbed.phases.prepare import prepare
from seedbed.storage.store import Store, write_json
from seedbed.suite import Benchmark, BenchmarkOptions, BenchmarkSpec, Case, Metric, Options, ScoreRow, Suite, SystemSpec
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan
from seedbed.sweep.registry import register_suite

SIZES = (100, 300, 1000)
SAMPLES, SYSTEMS, SEEDS = 300, 10, 5
CALL = {
    "sample": None,
    "phase": "generate",
    "role": "task",
    "model": "m",
    "outcome": "paid",
    "tokens_in": 200,
    "tokens_out": 20,
    "list_usd": 0.001,
    "latency_s": 0.2,
    "error": None,
    "response": {"choices": [{"message": {"content": "an answer"}}]},
}
NAMES = ("f1", "em", "language", "cost", "judged")


class Numbered(Options):
    number: int = 0


def load(options: BenchmarkOptions) -> Benchmark:
    cases = [Case(f"s{i:04d}", {"question": f"question {i}"}, f"gold {i}", {"lang": "zh" if i % 2 else "en"})
             for i in range(SAMPLES)]  # fmt: skip
    return Benchmark("bench", cases)


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, Any]:
    metrics: dict[str, Any] = {name: mean([float(row.scores[name] or 0) for row in rows]) for name in NAMES}
    return {**metrics, "n": len(rows), "n_errors": 0, "n_skipped": 0}


def never(*_: Any) -> Any:
    raise AssertionError("this suite is never run")


register_suite(
    Suite(
        name="bench",
        title="Cells for a benchmark",
        version="1",
        benchmarks={"b": BenchmarkSpec(load, BenchmarkOptions, Path(__file__))},
        systems={"s": SystemSpec(never, Numbered)},
        score=never,
        aggregate=aggregate,
        metrics=tuple(Metric(name, name) for name in NAMES),
    )
)


def make_cells(folder: Path, n_cells: int) -> Path:
    """A finished sweep of that size, not yet aggregated; returns the folder of its run."""
    benchmarks = ", ".join(f"{{name: b, label: b{i}, limit: {1000 + i}}}" for i in range(n_cells // (SYSTEMS * SEEDS)))
    systems = ", ".join(f"{{name: s, label: s{i}, number: {i}}}" for i in range(SYSTEMS))
    config = folder / "bench.yaml"
    config.write_text(
        f"name: bench{n_cells}\nseeds: {list(range(SEEDS))}\nplugins: [bench.report_bench]\n"
        f"models: {{m: {{model: offline/reader}}}}\nexperiments:\n  - suite: bench\n    models: [m]\n"
        f"    benchmarks: [{benchmarks}]\n    systems: [{systems}]\n",
        encoding="utf-8",
    )
    plan = make_plan(*load_config(config))
    run = prepare(plan, folder / "out")
    store = Store(folder / "out")
    for cell in plan.cells:
        _write_cell(store.cell_dir(cell), cell)
    for group, cells in plan.groups().items():
        metrics = {
            c.label: json.loads((store.cell_dir(c) / "metrics.json").read_text())["metrics"][c.label] for c in cells
        }
        scores = {c.label: c.key("score") for c in cells}
        found = {"metrics": metrics, "scores": scores, "generation": 0}
        write_json(store.group_dir(group) / "metrics.json", found)
    return run


def _write_cell(folder: Path, cell: Any) -> None:
    rng = random.Random(cell.id)  # noqa: S311
    folder.mkdir(parents=True)
    rows: list[ScoreRow] = []
    prompt = "[[ ## documents ## ]]\n" + "Mount Number is high and lies in the north. " * 12
    with (folder / "predictions.jsonl").open("wb") as answers, (folder / "lm_history.jsonl").open("wb") as calls:
        for i in range(SAMPLES):
            sample = f"s{i:04d}"
            scores: dict[str, float | None] = {name: rng.random() for name in NAMES}
            rows.append(
                ScoreRow(sample, "ok", scores, {"question": f"question {i}", "pred": f"answer {i}"}, None, None)
            )
            answers.write(
                orjson.dumps({"sample_id": sample, "output": {"answer": f"answer {i}"}, "error": None}) + b"\n"
            )
            call = {**CALL, "sample": sample, "request": {"messages": [{"role": "user", "content": f"{prompt}{i}"}]}}
            calls.write(json.dumps(call).encode() + b"\n")
    (folder / "scores.jsonl").write_bytes(b"".join(orjson.dumps(asdict(row)) + b"\n" for row in rows))
    usage = {"calls": SAMPLES, "tokens_in": 60_000, "tokens_out": 6_000, "list_usd": 0.3, "spent_usd": 0.3}
    write_json(folder / "metrics.json", {"metrics": {cell.label: aggregate(rows)}, "usage": {"generate": usage}})


def measure(run: Path) -> None:
    """In a process of its own: seconds and the highest memory, printed as JSON."""
    from seedbed.phases.aggregate import aggregate as phase
    from seedbed.report.canvas import style

    with style():
        # Imports are not what is measured.
        import matplotlib.figure  # noqa: F401
        import scipy.special  # noqa: F401
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, busy = time.perf_counter(), time.process_time()
    phase(str(run), {}, "completed")
    seconds, cpu = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = (run / "report.html").stat().st_size
    print(
        json.dumps({"seconds": seconds, "cpu": cpu, "before": before / 1024, "peak": peak / 1024, "html": size / 1e6})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments, _ = parser.parse_known_args()
    if arguments.measure:
        return measure(arguments.measure)
    print("Summary, plots and report of cells with 300 samples each")
    columns = ["cells", "samples", "seconds", "of CPU", "memory before, MB", "peak, MB", "report.html, MB"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for n_cells in arguments.sizes:
        with tempfile.TemporaryDirectory() as folder:
            run = make_cells(Path(folder), n_cells)
            command = [sys.executable, "-m", "bench.report_bench", "--measure", str(run)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        found = json.loads(done.stdout.splitlines()[-1])
        counts = f"| {n_cells:,} | {n_cells * SAMPLES:,} | {found['seconds']:.1f} | {found['cpu']:.1f} |"
        print(f"{counts} {found['before']:.0f} | {found['peak']:.0f} | {found['html']:.1f} |", flush=True)
    return None


if __name__ == "__main__":
    main()
