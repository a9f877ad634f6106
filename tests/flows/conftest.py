"""Running sweeps as a user does, and asking the server what it saw."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked
from tests.support.lab import call


@dataclass(frozen=True)
class Run:
    """A finished `seedbed run`."""

    code: int
    out: str
    err: str
    root: Path

    def summary(self, sweep: str = "tryout") -> dict[str, Any]:
        folder = sorted((self.root / "sweeps" / sweep).glob("*/summary.json"))[-1]
        return json.loads(folder.read_text(encoding="utf-8"))

    def cell(self, seed: int, name: str) -> Path:
        return self.root / "experiment_runs" / f"seed_{seed}" / name


RunSweep = Callable[..., Run]


@pytest.fixture
def run_sweep(seedbed_home: Path, tmp_path: Path) -> RunSweep:
    """`run_sweep(yaml_text, *arguments)` in a process of its own, results in a folder of the test's."""
    return _runner(tmp_path)


@pytest.fixture(scope="module")
def module_sweep(seedbed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> RunSweep:
    """The same for a sweep that all tests of a module look at."""
    return _runner(tmp_path_factory.mktemp("sweep"))


def _runner(folder: Path) -> RunSweep:
    def run(text: str, *arguments: str, env: dict[str, str] | None = None) -> Run:
        config = folder / "sweep.yaml"
        config.write_text(text, encoding="utf-8")
        done = forked.run(
            [sys.executable, "-m", "seedbed", "run", str(config), "--out", str(folder / "out"), *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, **(env or {})},
            cwd=folder,
        )
        return Run(done.returncode, done.stdout, done.stderr, folder / "out")

    return run


@pytest.fixture
def api(seedbed_home: Path) -> Callable[[str, dict[str, Any]], Any]:
    """Ask the Prefect server."""

    def post(path: str, body: dict[str, Any]) -> Any:
        return call("POST", path, body)

    return post
