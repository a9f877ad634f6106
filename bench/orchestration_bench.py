"""What Prefect and Seedbed's files cost a cell: sweeps of empty cells on threads and on Dask, cold and fully cached.

Each sweep runs as a user runs it, in a process of its own, against one server in a home of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CONFIG = """\
name: {name}
seeds: {seeds}
models: {{idle: {{model: offline/idle}}}}
experiments:
  - {{suite: empty, models: [idle], benchmarks: [nothing], systems: [idle]}}
plugins: [empty_suite]
runner: {{kind: {kind}, workers: 8}}
"""


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[100, 500, 2000])
    parser.add_argument("--runners", nargs="+", default=["threads", "dask"])
    arguments = parser.parse_args(argv)
    print("| runner | cells | cold, s | cold, ms a cell | cached, s | cached / cold |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "bench" / "empty_suite.py", folder)
        environment = {**os.environ, "SEEDBED_HOME": f"{folder}/home", "SEEDBED_PORT": "4399"}
        environment.pop("PREFECT_API_URL", None)
        _seedbed(["server", "start"], folder, environment)
        try:
            for kind in arguments.runners:
                for cells in arguments.cells:
                    _measure(kind, cells, folder, environment)
        finally:
            _seedbed(["server", "stop"], folder, environment)


def _measure(kind: str, cells: int, folder: str, environment: dict[str, str]) -> None:
    config = Path(folder) / f"{kind}-{cells}.yaml"
    text = CONFIG.format(name=config.stem, seeds=list(range(cells)), kind=kind)
    config.write_text(text, encoding="utf-8")
    command = ["run", config.name, "--out", config.stem]
    cold, cached = (_seedbed(command, folder, environment) for _ in range(2))
    shares = f"{1000 * cold / cells:.0f} | {cached:.1f} | {cached / cold:.2f}"
    print(f"| {kind} | {cells} | {cold:.1f} | {shares} |", flush=True)


def _seedbed(arguments: list[str], folder: str, environment: dict[str, str]) -> float:
    """Seconds that a command took."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "seedbed", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)  # noqa: S603
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1:])
