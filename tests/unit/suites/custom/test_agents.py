"""The agents of examples/, each run as its config says. They know nothing of Seedbed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from seedbed.lm.runtime import close_runtimes
from tests.support.cells import prepared

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"


@pytest.mark.parametrize("name", ["python_agent", "node_agent"])
def test_an_example_calls_its_tools_and_every_call_is_counted(tmp_path: Path, name: str) -> None:
    if name == "node_agent":
        _need_node(EXAMPLES / name)
    ready = prepared(EXAMPLES / name / "cities.yaml", tmp_path / "out", ["experiments.0.benchmarks.0.limit=1"])
    [cell] = ready.plan.cells
    try:
        assert ready.all_phases(cell)["metrics"]["contains"] == 1
    finally:
        close_runtimes()
    calls = ready.rows(cell, "lm_history.jsonl")
    assert [call["sample"] for call in calls].count("lyon") == 3
    assert {call["outcome"] for call in calls} == {"paid"}


def _need_node(folder: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if subprocess.run(["node", "-e", "require('openai')"], cwd=folder, capture_output=True).returncode != 0:
        pytest.skip("the npm package openai is not installed: npm install in examples/node_agent")
