"""The metrics of the crosslingual suite against vectors with expected values."""

import json
from typing import Any

import pytest

from seedbed.analysis.means import mean, sample_std
from seedbed.suites.crosslingual import metrics
from tests.support.golden import VECTORS, lines

_TOLERANCE = 1e-6
_STABLE = [row for row in lines("crosslingual_f1.jsonl") if row["stable"]]
_CONSISTENCY = lines("crosslingual_rlc.jsonl")
_by_id = pytest.mark.parametrize("row", _STABLE, ids=[row["id"] for row in _STABLE])


def test_there_are_vectors_to_compare_with() -> None:
    assert len(_STABLE) > 40
    assert len(_CONSISTENCY) > 10


@_by_id
def test_normalised_texts(row: dict[str, Any]) -> None:
    assert metrics.normalise(row["pred"]) == row["norm_pred"]
    assert metrics.normalise(row["gold"]) == row["norm_gold"]


@_by_id
def test_exact_match_and_f1(row: dict[str, Any]) -> None:
    asked = row["pred"], row["gold"], row["lang"]
    assert metrics.exact_match(*asked) == row["em"]
    assert metrics.f1_score(*asked) == pytest.approx(row["f1"], abs=_TOLERANCE)


@_by_id
def test_exact_match_and_f1_as_mkqa_scores_them(row: dict[str, Any]) -> None:
    asked = row["pred"], row["gold"], row["lang"]
    assert metrics.em_mkqa(*asked) == row["em_mkqa"]
    assert metrics.f1_mkqa(*asked) == pytest.approx(row["f1_mkqa"], abs=_TOLERANCE)


def test_a_batch_of_all_rows_scores_as_the_vectors_say() -> None:
    columns = metrics.score_rows(*([row[key] for row in _STABLE] for key in ("pred", "gold", "lang")))
    assert columns["em"].tolist() == [row["em"] for row in _STABLE]
    assert columns["f1"].tolist() == pytest.approx([row["f1"] for row in _STABLE], abs=_TOLERANCE)


@pytest.mark.parametrize("row", _CONSISTENCY, ids=[f"{row['lang']}-{row['text']}" for row in _CONSISTENCY])
def test_language_consistency(row: dict[str, Any]) -> None:
    assert metrics.rlc(row["text"], row["lang"]) == pytest.approx(row["rlc"], abs=_TOLERANCE)
    assert metrics.rlc_ok(row["text"], row["lang"]) == row["rlc_ok"]


def test_bridging_efficiency() -> None:
    for group in json.loads((VECTORS / "crosslingual_cnbe.json").read_text(encoding="utf-8")):
        values = group["f1"], group["base"], group["cost"]
        per_sample = metrics.cnbe(*values)
        assert per_sample == pytest.approx(group["per_sample"], abs=_TOLERANCE)
        assert mean(per_sample) == pytest.approx(group["cnbe"], abs=_TOLERANCE)
        assert sample_std(per_sample) == pytest.approx(group["cnbe_std_sample"], abs=_TOLERANCE)
        assert metrics.cnbe_ratio(*values) == pytest.approx(group["ratio_of_means"], abs=_TOLERANCE)
