"""What Prefect and Seedbed's files cost a cell: sweeps of empty cells on threads and on Dask, cold and fully cached.

Each sweep runs as a user runs it, in a process of its own, against one server in a home of its own. Below the table
stands what each command takes of such a sweep.
"""

from __future__ import annotations

import argparse
import json
import os
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
    told: list[str] = []
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
                told += [_measure(kind, cells, folder, environment) for cells in arguments.cells]
        finally:
            _seedbed(["server", "stop"], folder, environment)
    print(f"\n| runner | cells | {' | '.join(_COMMANDS)} |")
    print(f"|---|---:|{'---:|' * len(_COMMANDS)}")
    print("\n".join(told), flush=True)


def _measure(kind: str, cells: int, folder: str, environment: dict[str, str]) -> str:
    """Prints what the runs cost; what the commands cost is returned."""
    config = Path(folder) / f"{kind}-{cells}.yaml"
    text = CONFIG.format(name=config.stem, seeds=list(range(cells)), kind=kind)
    config.write_text(text, encoding="utf-8")
    command = ["run", config.name, "--out", config.stem]
    planned = _seedbed(["plan", config.name, "--out", config.stem], folder, environment)
    cold, finished = (_seedbed(command, folder, environment) for _ in range(2))
    print(f"| {kind} | {cells} | {cold.row(cells)} | {finished.row(cells)} |", flush=True)
    after = [
        _seedbed([name, config.stem, "--out", config.stem], folder, environment)
        for name in ("status", "report", "verify")
    ]
    costs = [planned, cold, finished, *after]
    return f"| {kind} | {cells} | {' | '.join(f'{cost.own:.1f} s, {cost.memory_mb:.0f} MB' for cost in costs)} |"


_COMMANDS = ("plan", "run", "run again", "status", "report", "verify")
_RECORDS_S = 5.0
"""So long the server may take to write down what it was told last."""


class Cost(NamedTuple):
    """Seconds that a command took, what CPU it and the server had of them, and the memory of its largest process."""

    took: float
    own: float
    server: float
    memory_mb: float

    def row(self, cells: int) -> str:
        return f"{self.took:.1f} | {1000 * self.own / cells:.0f} | {1000 * self.server / cells:.0f}"


def _seedbed(arguments: list[str], folder: str, environment: dict[str, str]) -> Cost:
    began, server = time.perf_counter(), _of_server(environment)
    command = [sys.executable, "-m", "seedbed", *arguments]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=said)  # noqa: S603
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}\n{said.read()[-2000:].decode()}")
    took = time.perf_counter() - began
    time.sleep(_RECORDS_S)
    own = used.ru_utime + used.ru_stime
    return Cost(took, own, _of_server(environment) - server, used.ru_maxrss / 1024)


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
