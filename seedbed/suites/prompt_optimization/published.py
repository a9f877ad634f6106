"""Scores that the literature gives for these benchmarks, and when one may stand beside a cell: only if optimizer, model
and benchmark are exactly the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seedbed.storage.store import read_json
from seedbed.suite import CellResult

SOURCE = "Agrawal et al. 2025, GEPA, arXiv:2507.19457, GPT-4.1 mini"
MODELS = frozenset(["openai/gpt-4.1-mini", "openai/gpt-4.1-mini-2025-04-14"])

_SCORES: Mapping[str, Mapping[str, float]] = {
    "HotpotQABench": {"Baseline": 38.00, "MIPROv2-Heavy": 58.00, "GEPA": 69.00},
    "IFBench": {"Baseline": 47.79, "MIPROv2-Heavy": 49.15, "GEPA": 52.72},
    "hoverBench": {"Baseline": 46.33, "MIPROv2-Heavy": 48.33, "GEPA": 51.67},
    "Papillon": {"Baseline": 78.57, "MIPROv2-Heavy": 83.37, "GEPA": 94.47},
    "AIMEBench": {"Baseline": 49.33, "MIPROv2-Heavy": 51.33, "GEPA": 59.33},
    "LiveBenchMathBench": {"Baseline": 58.20, "MIPROv2-Heavy": 61.84, "GEPA": 64.13},
}
_METRIC_CALLS: Mapping[str, int] = {
    "HotpotQABench": 6871,
    "IFBench": 3593,
    "hoverBench": 7051,
    "Papillon": 2426,
    "AIMEBench": 1839,
    "LiveBenchMathBench": 1839,
}
"""The budget of the published GEPA, without merging; GEPA-N and GEPA-MERGE are other searches."""
_TEST_CASES: Mapping[str, int] = {
    "HotpotQABench": 300,
    "IFBench": 294,
    "hoverBench": 300,
    "Papillon": 221,
    "AIMEBench": 150,
    "LiveBenchMathBench": 126,
}
_COUNTS = ("n", "n_errors", "n_skipped")


def published_score(cell: CellResult) -> float | None:
    """From 0 to 100; None where this cell is not what was published."""
    file = cell.folder / "config.json"
    if not file.exists():
        return None
    config: Mapping[str, Any] = read_json(file)
    optimizer = cell.label.partition("+")[2] or "Baseline"
    value = _SCORES.get(cell.benchmark, {}).get(optimizer)
    return value if value is not None and _is_published(cell, optimizer, config) else None


def _is_published(cell: CellResult, optimizer: str, config: Mapping[str, Any]) -> bool:
    """The whole public file under the published model, and for GEPA with the published budget."""
    budget = config["optimizer_options"].get("max_metric_calls")
    return (
        config["model"]["model"] in MODELS
        and config["benchmark_options"].get("path") is not None
        and sum(cell.metrics.get(name) or 0 for name in _COUNTS) == _TEST_CASES[cell.benchmark]
        and (optimizer != "GEPA" or budget == _METRIC_CALLS[cell.benchmark])
    )
