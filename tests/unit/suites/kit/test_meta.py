"""Every suite with a judge has planted cases for it, and they tell a good judge from a poor one."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path

import pytest

import seedbed.suites
from seedbed.cli.main import main
from seedbed.sweep.registry import get_suite

JUDGED = {
    "crosslingual": ("semantic_score",),
    "custom": ("judge", "preference", "orders_agree"),
    "finance_dialog": ("lm_judge",),
    "prompt_optimization": ("quality", "leakage"),
}
"""Beside rag_quality, which has tests of its own."""
SHIPPED = [found.name for found in pkgutil.iter_modules(seedbed.suites.__path__) if found.name != "kit"]
"""Not those that other tests of this process have registered."""


def _meta(suite: str, out: Path, *options: str) -> dict[str, dict[str, float]]:
    assert main(["meta", suite, "--judge", "offline/judge", "--out", str(out), *options]) == 0
    return json.loads((out / f"{suite}-offline-judge.meta.json").read_text(encoding="utf-8"))["metrics"]


@pytest.mark.parametrize("suite", JUDGED)
def test_planted_cases_tell_a_good_judge_from_a_poor_one(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, poor = _meta(suite, tmp_path / "good"), _meta(suite, tmp_path / "poor", "--judge-ability", "0.1")
    assert tuple(good) == JUDGED[suite]
    assert all(own["n"] >= 8 and own["n_errors"] == 0 for own in good.values())
    assert sum(own["off"] for own in good.values()) < sum(own["off"] for own in poor.values())
    right = sum(own["tp"] + own["tn"] for own in good.values())
    assert right / sum(own["n"] for own in good.values()) > 0.8
    assert "accuracy" in capsys.readouterr().out


def test_a_suite_whose_scorer_asks_a_judge_has_planted_cases() -> None:
    asking = [name for name in SHIPPED if "judge" in get_suite(name).score_roles]
    assert asking
    assert all(get_suite(name).meta is not None for name in asking)


def test_every_metric_that_a_model_judges_says_how_a_person_is_asked() -> None:
    declared = {
        metric.name: metric.judged
        for name in SHIPPED
        for metric in get_suite(name).metrics
        if metric.judged is not None
    }
    expected = {"faithfulness", "answer_correctness", "semantic_score", "lm_judge", "score"}
    assert expected <= set(declared)
    for name, judged in declared.items():
        assert judged.question.endswith("?"), name
        assert 2 <= len(judged.marks) <= 9, name
