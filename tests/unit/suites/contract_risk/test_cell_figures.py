"""From rows to figures: what counts where, and what stays undefined."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.analysis.bootstrap import points_only
from seedbed.suite import Answer, Case, SampleUsage, ScoreRow
from seedbed.suites.contract_risk import SUITE
from seedbed.suites.contract_risk.figures import aggregate, confusion
from seedbed.suites.contract_risk.groups import score_group
from seedbed.suites.contract_risk.knowledge import DATA, read_law_index
from seedbed.suites.contract_risk.metrics import risk_level_metrics
from seedbed.suites.contract_risk.scorers import Checks, score_level, score_one
from seedbed.suites.contract_risk.verify import VerifierKind, make_verifier
from tests.unit.suites.contract_risk.conftest import review, row

INDEX = read_law_index(DATA / "law_index.json", ())
CLAUSE = "押金一概不予退还，乙方不得提出异议。"
ERROR = ScoreRow("e", "error", details={"gold": "高", "pred": None, "verifier": "lexical>=0.8"}, cluster="e")


def _case(level: str = "高", **gold: Any) -> Case:
    wanted = {"risk_level": level, "rule_ids": ["R1"], "risk_id": "k1", "evidence": [], "law_refs": [], **gold}
    return Case("a", {"clause": CLAUSE, "contract_type": "租赁", "sample_id": "a"}, wanted, cluster="R1")


def _score(text: str, case: Case | None = None, *, verifier: VerifierKind = "lexical", **output: Any) -> ScoreRow:
    checks = Checks(make_verifier(verifier), INDEX)
    return score_one(case or _case(), Answer("a", {"review": text, **output}), checks)


GOOD = review("高", "「押金一概不予退还」", "《民法典》第497条", "改为退还")


def test_a_right_review_with_valid_items_and_a_suggestion_succeeds() -> None:
    assert _score(GOOD).scores["task_success_rate"] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        review("中", "「押金一概不予退还」", "《民法典》第497条"),
        review("高", "「押金予以退还」", "《民法典》第497条"),
        review("高", "「押金一概不予退还」", "《民法典》第9999条"),
        review("高", "无", "无"),
        review("高", "「押金一概不予退还」", "《民法典》第497条", "无"),
        "抱歉",
    ],
    ids=["wrong level", "invented quote", "invented law", "no item", "no suggestion", "unparsed"],
)
def test_what_spoils_success(text: str) -> None:
    assert _score(text).scores["task_success_rate"] == 0.0


def test_an_incomplete_citation_is_neither_valid_nor_invalid() -> None:
    scored = _score(review("高", "「押金一概不予退还」", "《民法典》"))
    assert scored.scores["task_success_rate"] == 1.0
    figures = aggregate([scored])
    assert figures["law_hallucination_rate"] is None
    assert figures["n_law_incomplete"] == 1


def test_a_right_low_needs_a_suggestion_only_in_the_strict_figure() -> None:
    scored = _score(review("低", advice="无"), _case("低", rule_ids=[], risk_id=None))
    assert (scored.scores["task_success_rate"], scored.scores["task_success_lenient"]) == (0.0, 1.0)


def test_laws_of_low_cases_are_checked_too() -> None:
    scored = _score(review("低", laws="《合同法》第52条"), _case("低"))
    assert aggregate([scored])["law_hallucination_rate"] == 1.0


def test_the_combined_rate_counts_quotes_and_citations() -> None:
    scored = _score(review("高", "「押金一概不予退还」；「今天天气好」", "《民法典》第497条；《民法典》第1261条"))
    figures = aggregate([scored])
    assert figures["clause_hallucination_rate"] == 0.5
    assert figures["law_hallucination_rate"] == 0.5
    assert (figures["hallucination_rate"], figures["n_hallucination_rate"]) == (0.5, 4)


def test_without_checkable_evidence_the_rates_are_undefined() -> None:
    figures = aggregate([_score(review("高"))])
    assert figures["clause_hallucination_rate"] is None
    assert figures["hallucination_rate"] is None
    assert figures["evidence_coverage"] == 0.0


def test_with_the_verifier_off_evidence_and_success_are_undefined() -> None:
    figures = aggregate([_score(GOOD, verifier="off")])
    assert figures["clause_hallucination_rate"] is None
    assert figures["hallucination_rate"] is None
    assert figures["evidence_coverage"] is None
    assert figures["task_success_rate"] is None


def test_errors_and_unparsed_are_misses_in_the_invalid_column() -> None:
    rows = [row("a", "高", "高"), row("b", "高", None), ERROR]
    assert confusion(rows) == [[1, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]]
    figures = aggregate(rows)
    assert figures["accuracy"] == pytest.approx(1 / 3)
    assert figures["class_recall"]["High"] == pytest.approx(1 / 3)
    assert figures["kappa_linear"] is None
    assert (figures["total"], figures["n"], figures["n_errors"]) == (3, 2, 1)


def test_skipped_rows_are_in_no_total() -> None:
    figures = aggregate([row("a", "高", "高"), ScoreRow("s", "skipped")])
    assert (figures["total"], figures["n_skipped"], figures["accuracy"]) == (1, 1, 1.0)


def test_no_rows_give_no_figures() -> None:
    figures = aggregate([])
    assert {figures[name] for name in ("accuracy", "kappa_linear", "macro_f1", "parse_rate", "avg_latency")} == {None}


def test_an_absent_class_counts_as_zero_and_its_support_is_shown() -> None:
    figures = aggregate([row("a", "高", "高"), row("b", "中", "中")])
    assert figures["macro_f1"] == pytest.approx(2 / 3)
    assert figures["support_Low"] == 0


def test_a_system_without_a_rule_engine_has_no_rule_figures() -> None:
    figures = aggregate([_score(GOOD)])
    assert {figures[n] for n in ("rule_recall", "rule_precision", "risk_id_accuracy", "risk_id_hit_at_3")} == {None}


def test_rules_fired_on_negatives_lower_precision_and_not_recall() -> None:
    risky = _score(GOOD, fired_rules=["R1"], retrieved_risks=["k2", "k1"])
    safe = _score(GOOD, _case("低", rule_ids=[], risk_id=None), fired_rules=["R1"], retrieved_risks=["k1"])
    figures = aggregate([risky, safe])
    assert (figures["rule_recall"], figures["rule_precision"]) == (1.0, 0.5)
    assert (figures["risk_id_accuracy"], figures["risk_id_hit_at_3"]) == (0.0, 1.0)


def test_latency_is_of_paid_calls_only() -> None:
    checks = Checks(make_verifier("lexical"), INDEX)
    paid = [
        score_one(_case(), Answer("a", {"review": GOOD}), checks, SampleUsage(2, 1, 1, None, s)) for s in (1.0, 3.0)
    ]
    reused = score_one(_case(), Answer("a", {"review": GOOD}), checks, SampleUsage(2, 1, 1, None, None))
    figures = aggregate([*paid, reused])
    assert (figures["avg_latency"], figures["p50_latency"], figures["n_avg_latency"]) == (2.0, 2.0, 2)


def test_a_bare_level_has_levels_and_nothing_else() -> None:
    figures = aggregate([score_level(_case(), "高", Checks(make_verifier("lexical"), INDEX))])
    assert figures["accuracy"] == 1.0
    assert {figures[n] for n in ("parse_rate", "task_success_rate", "clause_hallucination_rate")} == {None}


@pytest.mark.slow
@given(
    confusion=st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3),
    invalid=st.lists(st.integers(0, 9), min_size=3, max_size=3),
)
def test_risks_taken_for_lower_ones_are_counted_over_all_high_risks_those_without_a_level_too(
    confusion: list[list[int]], invalid: list[int]
) -> None:
    figures = risk_level_metrics(confusion, invalid)
    high = sum(confusion[0]) + invalid[0]
    for name, count in (("high_to_medium_rate", confusion[0][1]), ("high_to_low_rate", confusion[0][2])):
        assert figures[name] == (pytest.approx(count / high) if high else None)


def _levels(pairs: str, **details: Any) -> list[ScoreRow]:
    return [row(str(i), p[0], p[1], cluster=str(i // 3), **details) for i, p in enumerate(pairs.split())]


def test_group_compares_with_full_on_common_cases_and_adjusts_over_the_ablations() -> None:
    rows = {
        "full": _levels("高高 中中 低低 高高 中中 低低"),
        "no_rag": _levels("高中 中高 低中 高中 中高 低中"),
        "no_rules": _levels("高高 中中 低低 高高 中中 低中"),
    }
    group = score_group(rows, {label: dict(aggregate(own)) for label, own in rows.items()})
    assert group["full"]["mcnemar_p"] is None
    assert group["no_rag"]["mcnemar_p"] == pytest.approx(0.03125)
    assert group["no_rag"]["mcnemar_p_holm"] == pytest.approx(0.0625)
    assert (group["no_rules"]["only_full_right"], group["no_rules"]["only_this_right"]) == (1, 0)


def test_trivial_rows_are_added_and_stay_out_of_the_family() -> None:
    rows = {"full": _levels("高高 中中 低低")}
    group = score_group(rows, {"full": dict(aggregate(rows["full"]))})
    assert set(group) == {"full", "always_high", "always_medium", "prior_random"}
    assert group["always_high"]["weighted_accuracy"] == pytest.approx((1 + 0.8 + 0.5) / 3)
    assert group["always_high"]["hallucination_rate"] is None
    assert group["always_high"]["mcnemar_p"] is not None
    assert group["always_high"]["mcnemar_p_holm"] is None


def test_a_group_without_full_has_no_comparison() -> None:
    rows = {"no_rag": _levels("高高 中中 低低")}
    assert score_group(rows, {"no_rag": dict(aggregate(rows["no_rag"]))})["no_rag"]["mcnemar_p"] is None


def test_asked_for_points_only_the_metrics_of_the_suite_stay_the_same() -> None:
    rows = [row(f"{gold}{pred}{i}", gold, pred) for i, gold in enumerate("高高中中低低高") for pred in "高中低"]
    whole = aggregate([*rows, ERROR])
    with points_only():
        quick = aggregate([*rows, ERROR])
    for name in (metric.name for metric in SUITE.metrics):
        assert quick[name] == (None if whole[name] is None else pytest.approx(whole[name], abs=1e-12)), name
