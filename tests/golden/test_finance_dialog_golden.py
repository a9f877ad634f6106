"""The golden traces of the finance_dialog suite, in both profiles."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.suites.finance_dialog.metrics import build_turn_eval_rows, evaluate_traces
from tests.support.golden import lines

_HEADER, *VECTORS = lines("finance_dialog.jsonl")
LEXICON = _HEADER["lexicon"]


def _ignore(vector: dict[str, Any]) -> bool:
    return bool(vector["options"].get("ignore_memory_keys"))


def _same(found: Any, expected: Any, where: str) -> None:
    """Every expected value is found; what is found beyond it is not looked at."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert name in found, f"{where}.{name} is missing"
            _same(found[name], value, f"{where}.{name}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-9), where
    else:
        assert found == expected, where


def _merged(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {name: _merged(base[name], over[name]) if name in over else base[name] for name in base} | {
        name: value for name, value in over.items() if name not in base
    }


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_spec_figures_match(vector: dict[str, Any]) -> None:
    found = evaluate_traces(vector["traces"], LEXICON, ignore_memory_keys=_ignore(vector))
    _same(found, vector["expected"], vector["name"])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_upstream_compat_figures_match(vector: dict[str, Any]) -> None:
    found = evaluate_traces(vector["traces"], LEXICON, "upstream_compat", _ignore(vector))
    _same(found, _merged(vector["expected"], vector["upstream_compat"]), vector["name"])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_turn_rows_match(vector: dict[str, Any]) -> None:
    rows = build_turn_eval_rows(vector["traces"], LEXICON, ignore_memory_keys=_ignore(vector))
    assert len(rows) == len(vector["expected_turn_eval"])
    for row, expected in zip(rows, vector["expected_turn_eval"], strict=True):
        _same(row, expected, f"{vector['name']} {expected['dialog_id']}/{expected['turn_pair_id']}")
