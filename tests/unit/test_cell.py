"""Cell ids: the same on every machine, changed by what changes results and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.cell import CELL_ID_VERSION, Cell, cell_id
from seedbed.config import Limits, ModelConfig, Price

BASE: dict[str, Any] = {
    "suite": "crosslingual",
    "suite_version": "1",
    "benchmark": {"name": "tiny", "options": {"limit": 4}, "data": "0" * 64},
    "system": {"name": "multi", "options": {}},
    "optimizer": {"name": "Baseline"},
    "model": ModelConfig(model="openai/gpt-4.1-mini", temperature=0.7),
    "roles": {"judge": ModelConfig(model="openai/gpt-4.1")},
    "seed": 3,
}


def test_the_id_is_pinned_for_this_version_of_the_recipe() -> None:
    assert CELL_ID_VERSION == 1
    assert cell_id(**BASE) == "bb191df444aa9b633f708106e1a4de561e363736ce29743a2b6ca3cb078dec53"


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        {"suite_version": "2"},
        {"system": {"name": "multi", "options": {"top_k": 2}}},
        {"benchmark": {"name": "tiny", "options": {"limit": 4}, "data": "1" * 64}},
        {"optimizer": {"name": "GEPA-5"}},
        {"model": ModelConfig(model="openai/gpt-4.1-mini", temperature=0.8)},
        {"model": ModelConfig(model="openai/gpt-4.1-mini", temperature=0.7, api_base="http://localhost:1/v1")},
        {"roles": {"judge": ModelConfig(model="openai/gpt-4.1-mini")}},
    ],
)
def test_what_changes_results_changes_the_id(change: dict[str, Any]) -> None:
    assert cell_id(**{**BASE, **change}) != cell_id(**BASE)


@pytest.mark.parametrize(
    "settings",
    [
        {"limits": Limits(concurrency=3)},
        {"retries": 9},
        {"timeout_s": 5.0},
        {"backoff_s": 0.1},
        {"price": Price(input=1, output=2)},
        {"api_key_env": "SOME_KEY"},
    ],
)
def test_what_does_not_change_results_keeps_the_id(settings: dict[str, Any]) -> None:
    model = ModelConfig(model="openai/gpt-4.1-mini", temperature=0.7, **settings)
    assert cell_id(**{**BASE, "model": model}) == cell_id(**BASE)


def test_faults_and_latency_of_the_offline_model_keep_the_id() -> None:
    plain = ModelConfig(model="offline/reader", options={"skill": 0.5})
    slow = ModelConfig(model="offline/reader", options={"skill": 0.5, "latency_ms": 9, "errors": {"server": 0.1}})
    assert cell_id(**{**BASE, "model": plain}) == cell_id(**{**BASE, "model": slow})


def test_the_folder_tells_benchmark_system_optimizer_and_model() -> None:
    cell = Cell("x", 0, "prompt_optimization", "HotpotQABench", "HotpotMultiHop", "GEPA-5", "gpt-41-mini", 0)
    assert cell.folder == "experiment_runs/seed_0/HotpotQABench_HotpotMultiHop_GEPA-5_gpt-41-mini"
    assert cell.title == "HotpotMultiHop · HotpotQABench · GEPA-5 · gpt-41-mini · seed 0"
