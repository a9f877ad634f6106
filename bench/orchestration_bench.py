"""What Prefect and Seedbed's files cost a cell: sweeps of empty cells on threads and on Dask, cold and fully cached.

Each sweep runs as a user runs it, in a process of its own, against one server in a home of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[100, 500, 2000])
    parser.add_argument("--runners", nargs="+", default=["threads", "dask"])
    arguments = parser.parse_args()
    print("| runner | cells | cold, s | CPU ms a cell: sweep | server | finished, s | CPU ms a cell: sweep | server |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "bench" / "empty_suite.py", folder)
        environment = {
            **os.environ,
            "SEEDBED_HOME": f"{folder}/home",
            "SEEDBED_PORT": os.environ.get("SEEDBED_PORT", "4399"),
        }
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
    cold, finished = (_seedbed(command, folder, environment) for _ in range(2))
    print(f"| {kind} | {cells} | {cold.row(cells)} | {finished.row(cells)} |", flush=True)


_RECORDS_S = 5.0
"""So long the server may take to write down what it was told last."""


class Cost(NamedTuple):
    """Seconds that a command took, and how much CPU it and the server had of them."""

    took: float
    own: float
    server: float

    def row(self, cells: int) -> str:
        return f"{self.took:.1f} | {1000 * self.own / cells:.0f} | {1000 * self.server / cells:.0f}"


def _seedbed(arguments: list[str], folder: str, environment: dict[str, str]) -> Cost:
    began, own, server = time.perf_counter(), _of_children(), _of_server(environment)
    command = [sys.executable, "-m", "seedbed", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)  # noqa: S603
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}\n{done.stderr[-2000:]}")
    took = time.perf_counter() - began
    time.sleep(_RECORDS_S)
    return Cost(took, _of_children() - own, _of_server(environment) - server)


def _of_children() -> float:
    """CPU seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_server(environment: dict[str, str]) -> float:
    """CPU seconds of the server so far; 0 while there is none."""
    file = Path(environment["SEEDBED_HOME"]) / "server.json"
    if not file.exists():
        return 0.0
    stat = Path(f"/proc/{json.loads(file.read_text(encoding='utf-8'))['pid']}/stat")
    if not stat.exists():
        return 0.0
    ticks = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
