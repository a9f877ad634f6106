"""The configs that are shipped, each run to its end with one sample a cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.sweep.config import load_config
from tests.support.cells import prepared

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
RUN_HERE = (
    *("contract_risk.yaml", "crosslingual.yaml", "demo.yaml", "finance_dialog.yaml", "nightly.yaml"),
    "rag_quality.yaml",
)
RUN_ELSEWHERE = {"gepa.yaml": "flows/test_gepa_bill.py", "local.yaml": "unit/cli/test_demo.py"}


def test_every_config_is_run_by_somebody() -> None:
    assert {path.name for path in CONFIGS.glob("*.yaml")} == {*RUN_HERE, *RUN_ELSEWHERE}


@pytest.mark.parametrize("name", [*RUN_HERE, *RUN_ELSEWHERE])
def test_a_shipped_config_plans(name: str, tmp_path: Path) -> None:
    assert main(["plan", str(CONFIGS / name), "--out", str(tmp_path)]) == 0


@pytest.mark.parametrize("name", RUN_HERE)
def test_a_shipped_config_runs(name: str, tmp_path: Path) -> None:
    config, _ = load_config(CONFIGS / name)
    overrides = [f"seeds=[{config.seeds[0]}]"]
    for at, experiment in enumerate(config.experiments):
        benchmark = experiment.benchmarks[0]
        overrides += [f"experiments.{at}.benchmarks=[{{name: {benchmark.name}, limit: 1}}]"]
    folder = prepared(CONFIGS / name, tmp_path, overrides).finish()
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert (summary["status"], summary["missing"]) == ("completed", [])
