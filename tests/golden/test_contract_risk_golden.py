"""Parser and level metrics of contract_risk against vectors with expected values."""

from typing import Any

import pytest

from seedbed.suites.contract_risk.metrics import quick_figures, risk_level_metrics
from seedbed.suites.contract_risk.parser import SECTIONS, parse_review
from tests.support.golden import lines

_TOLERANCE = 1e-9
_RISK = [row for row in lines("contract_risk.jsonl") if "expected" in row]
_HEADER, *_REVIEWS = lines("contract_parser.jsonl")
_each_matrix = pytest.mark.parametrize("row", _RISK, ids=[row["name"] for row in _RISK])
_each_review = pytest.mark.parametrize("row", _REVIEWS, ids=[row["name"] for row in _REVIEWS])


def test_there_are_vectors_to_compare_with() -> None:
    assert len(_RISK) > 20
    assert len(_REVIEWS) > 10


def _assert_same(got: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert set(got) == set(expected)
        for key, value in expected.items():
            _assert_same(got[key], value)
    elif isinstance(expected, list):
        assert got == pytest.approx(expected, abs=_TOLERANCE)
    else:
        assert got == (None if expected is None else pytest.approx(expected, abs=_TOLERANCE))


@_each_matrix
def test_level_metrics(row: dict[str, Any]) -> None:
    _assert_same(risk_level_metrics(row["confusion"], row["invalid_by_gold"]), row["expected"])


@_each_matrix
def test_the_figures_of_a_resample_are_those_of_scikit_learn(row: dict[str, Any]) -> None:
    counts = [n for line, missed in zip(row["confusion"], row["invalid_by_gold"], strict=True) for n in (*line, missed)]
    for name, value in quick_figures(counts).items():
        _assert_same(value, row["expected"][name])


@_each_review
def test_parser(row: dict[str, Any]) -> None:
    review = parse_review(row["text"])
    got = {
        "parse_success": review.parse_success,
        "level": review.level,
        "evidence": review.evidence,
        "laws": [list(ref) for ref in review.laws],
        "has_suggestion": review.has_suggestion,
        "missing": review.missing_sections,
    }
    wanted = {key: value for key, value in row["expected"].items() if key != "why"}
    assert {key: got[key] for key in wanted} == wanted


def test_the_parser_knows_the_required_sections() -> None:
    assert list(SECTIONS) == _HEADER["required_sections"]
