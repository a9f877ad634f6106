"""Scores of samples, cells and groups."""

from __future__ import annotations

import math
from typing import Any

import pytest

from seedbed.suite import ScoreRow
from seedbed.suites.crosslingual.gain import by_language, gain_interval, paired_figures
from seedbed.suites.crosslingual.recall import answer_in_context, char_3gram_recall
from seedbed.suites.crosslingual.scorers import Answered, aggregate, score_answers, score_group
from tests.unit.suites.crosslingual.conftest import MakeSweep

pytestmark = pytest.mark.slow


def answered(sample_id: str, pred: str, gold: str, lang: str = "en", tokens: float = 0) -> Answered:
    return Answered(sample_id, lang, "?", [gold], pred, tokens, cluster=sample_id.partition("-")[0])


def row(sample_id: str, f1: float, cost: float = 0.0, **more: Any) -> ScoreRow:
    return ScoreRow(sample_id, "ok", {"f1": f1, "cost": cost}, {"lang": "en"}, cluster=sample_id, **more)


@pytest.mark.parametrize(
    ("texts", "gold", "lang", "expected"),
    [
        (["Mount Fuji is 3776 metres high."], "3776 Metres", "en", 1.0),
        (["Mount Fuji is 13776 metres high."], "3776 metres", "en", 0.0),
        (["富士山高 3776 米。"], "3776米", "zh", 1.0),
        (["เมืองหลวงคือกรุงเทพมหานคร"], "กรุงเทพ", "th", 1.0),
        (["a", "the Nile"], ["Amazon", "Nile"], "en", 1.0),
        (["Der Nil"], "尼罗河", "zh", 0.0),
        ([], "Nile", "en", None),
    ],
)
def test_an_answer_is_in_the_context_as_whole_words_or_not(
    texts: list[str], gold: str | list[str], lang: str, expected: float | None
) -> None:
    assert answer_in_context(texts, gold, lang) == expected


@pytest.mark.parametrize(
    ("pred", "gold", "expected"),
    [
        ("Moskau", "Moskau", 1.0),
        ("in Moskau an der Moskwa", "Moskau", 1.0),
        ("Moskva", "Moskau", 0.5),
        ("12", "12", 1.0),
        ("x", "12", 0.0),
        ("", "", 1.0),
        ("something", "", 0.0),
        ("abc", ["xyz", "abcd"], 0.5),
    ],
)
def test_3gram_recall_counts_the_gold_s_grams_in_the_answer(pred: str, gold: str | list[str], expected: float) -> None:
    assert char_3gram_recall(pred, gold) == pytest.approx(expected)


def test_a_mean_is_over_answered_samples_and_carries_its_counts() -> None:
    rows = [*score_answers([answered("a", "x", "x"), answered("b", "y", "x")]), ScoreRow("c", "error", reason="boom")]
    metrics = aggregate(rows)
    assert (metrics["em"], metrics["em_std"]) == (0.5, pytest.approx(math.sqrt(0.5)))
    assert (metrics["n"], metrics["n_errors"], metrics["n_skipped"]) == (2, 1, 0)
    assert (metrics["semantic_score"], metrics["semantic_score_std"]) == (None, None)


def test_the_std_of_a_tenth_right_of_a_hundred_is_the_seed_s() -> None:
    rows = score_answers([answered(str(i), "x" if i < 10 else "y", "x") for i in range(100)])
    assert round(aggregate(rows)["em_std"] or 0, 3) == 0.302


def test_cnbe_pairs_by_sample_and_keeps_free_samples_in_the_mean() -> None:
    direct = [row("a", 0.2), row("b", 0.5), row("c", 0.0)]
    own = [row("c", 1.0, 0.0), row("a", 0.6, 20.0), row("b", 0.4, 10.0), row("only-here", 1.0, 5.0)]
    figures = paired_figures(own, direct)
    assert figures["cnbe"] == pytest.approx((0.02 - 0.01 + 0.0) / 3)
    assert figures["cnbe_ratio"] == pytest.approx(1.3 / 30)
    assert figures["n_paired"] == 3


def test_without_direct_the_paired_figures_are_undefined() -> None:
    figures = score_group({"multi": [row("a", 1.0)]}, {"multi": {}})["multi"]
    assert {figures[name] for name in ("cnbe", "cnbe_std", "cnbe_ratio", "f1_gain", "f1_gain_low")} == {None}


def test_a_system_is_paired_with_direct_under_its_own_optimizer() -> None:
    rows = {"direct": [row("a", 0.0)], "direct+GEPA": [row("a", 0.5)], "multi+GEPA": [row("a", 1.0)]}
    assert score_group(rows, {label: {} for label in rows})["multi+GEPA"]["f1_gain"] == 0.5


def test_the_interval_of_the_gain_resamples_whole_questions() -> None:
    gains = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    alone = gain_interval([str(i) for i in range(8)], gains)
    together = gain_interval(["a", "a", "b", "b", "c", "c", "d", "d"], gains)
    assert together[0] is not None
    assert together[1] is not None
    assert alone[0] is not None
    assert alone[1] is not None
    assert together[1] - together[0] > alone[1] - alone[0]
    assert gain_interval(["a", "a"], [0.0, 1.0]) == (None, None)
    assert gain_interval(["a", "b", "c"], [0.25] * 3) == (0.25, 0.25)


def test_means_by_language_carry_their_counts() -> None:
    rows = score_answers([answered("a-zh", "甲", "甲", "zh"), answered("a-en", "x", "y")])
    table = by_language([*rows, ScoreRow("b-en", "error", details={"lang": "en"})], ("em",))
    assert {lang: (own["em"], own["n"], own["n_errors"]) for lang, own in table.items()} == {
        "en": (0.0, 1, 1),
        "zh": (1.0, 1, 0),
    }


def test_without_a_judge_in_the_config_nobody_judges(sweep: MakeSweep) -> None:
    tried = sweep(systems=["direct"])
    assert {r["scores"]["semantic_score"] for r in tried.scores("direct").values()} == {None}
    assert {call.role for call in tried.attempts()} == {"task"}


def test_a_judge_in_the_config_scores_and_changes_the_key_of_scoring(sweep: MakeSweep) -> None:
    judged = sweep(systems=["multi"], roles={"judge": "reader"})
    rows = judged.scores("multi").values()
    assert all(0 <= r["scores"]["semantic_score"] <= 1 and r["details"]["explanation"] for r in rows)
    assert sum(call.role == "judge" for call in judged.attempts()) == 12
    own, other = judged.cell("multi"), sweep(systems=["multi"], roles={}).cell("multi")
    assert (own.id, own.key("score") == other.key("score")) == (other.id, False)


def test_a_judge_that_cannot_be_read_is_an_error_of_the_sample_after_one_repair(sweep: MakeSweep) -> None:
    broken = {"model": "offline/judge", "retries": 0, "options": {"errors": {"malformed": 1.0}}}
    tried = sweep(
        systems=["direct"], models={"reader": {"model": "offline/reader"}, "judge": broken}, roles={"judge": "judge"}
    )
    metrics = tried.metrics("direct")
    assert (metrics["n"], metrics["n_errors"], metrics["n_judge_errors"]) == (0, 12, 12)
    assert (metrics["semantic_score"], metrics.get("n_semantic_score", metrics["n"])) == (None, 0)
    assert metrics["f1"] is not None
    assert metrics["n_f1"] == 12
    calls = [call for call in tried.attempts() if call.role == "judge"]
    assert len(calls) == 2 * 12, "one call and one repair"


def test_the_estimate_counts_the_judge_only_where_there_is_one(sweep: MakeSweep) -> None:
    from seedbed.lm.prices import token_cost
    from seedbed.sweep.estimate import estimate

    without = sweep(systems=["direct"], roles={})
    assert estimate(without.plan, without.cell("direct"), token_cost).calls == 12
    judged = sweep(systems=["direct"], roles={"judge": "reader"})
    assert estimate(judged.plan, judged.cell("direct"), token_cost).calls == 24
