"""What the gate and its page say, word for word, and the few figures that decide it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.results import Comparison
from seedbed.nightly.explanation import Explanation
from seedbed.nightly.gate import (
    GateResult,
    Reason,
    changed_terms,
    judge,
    judged_metrics,
    matched_entries,
    shared_labels,
)
from seedbed.nightly.gate_page import gate_markdown
from seedbed.sweep.config import GateConfig
from tests.unit.nightly.test_gate import FIGURES, N, baseline, entry, held_against, told, verdict


def _alternating(share: float) -> Any:
    return (np.arange(N) < share * N).astype(float)


def test_a_drop_is_told_with_both_means_the_difference_p_and_n() -> None:
    (text,) = told(verdict(entry({"multi": _alternating(0.6)})))
    assert text == (
        "fail: tiny · multi: F1 0.600 against 0.800 (difference -0.200, p = 0.0001 after Holm, n = 100) is worse"
    )


def test_a_run_on_a_part_of_the_samples_is_told_with_how_many() -> None:
    result = verdict(entry({"multi": _alternating(0.8)[:80]}, ids=range(80)), min_effect=0.2)
    assert told(result) == [
        "inconclusive: tiny · multi: F1: only 80% of the baseline's samples have a score in this run (80)"
    ]


def test_two_runs_that_share_no_sample_have_too_few_pairs() -> None:
    result = held_against(entry(), entry(ids=range(N, 2 * N)))
    assert told(result) == ["inconclusive: tiny · multi: F1 has 0 pairs of samples, too few to compare"]


def test_a_metric_that_the_baseline_had_not_declared_has_no_pair() -> None:
    whole = entry()
    table = replace(
        whole.table, declared=whole.table.declared[1:], values={"multi": whole.table.values["multi"][:, 1:]}
    )
    result = held_against(replace(whole, table=table), whole)
    assert told(result) == ["inconclusive: tiny · multi: F1 has 0 pairs of samples, too few to compare"]


def test_a_model_that_changed_during_the_night_is_noted_once() -> None:
    def row(by: str) -> dict[str, Any]:
        unsaid = dict.fromkeys(("fingerprint", "provider", "service_tier"))
        return {"model": "reader", "answered_by": by, **unsaid, "answers": 50}

    night = replace(entry(), answerers=[row("x"), row("y")])
    notes = told(held_against(replace(entry(), answerers=[row("x"), row("y")]), night))
    assert notes == [
        "note: reader: the model that answered changed during the sweep: x (50 answers), then y (50 answers)"
    ]


def test_two_tables_of_one_model_tell_of_it_once() -> None:
    result = judge_two()
    assert [text for text in told(result) if "fingerprint" in text] == [
        "note: reader: its fingerprint was f1 in the baseline and is f2 now"
    ]


def judge_two() -> GateResult:
    def of(benchmark: str, fingerprint: str) -> Any:
        who = {"model": "reader", "answered_by": "x", "fingerprint": fingerprint, "provider": None}
        one = replace(entry(), answerers=[{**who, "service_tier": None, "answers": 9}])
        return replace(one, table=replace(one.table, key=("crosslingual", benchmark, "reader")))

    accepted = baseline(of("tiny", "f1"), of("large", "f1"))
    return judge(accepted, [of("tiny", "f2"), of("large", "f2")], "completed", GateConfig(min_effect=0.1))


def test_errors_are_told_with_what_is_allowed_of_them() -> None:
    base = entry(figures=replace(FIGURES, n_samples=0))
    (text,) = told(held_against(base, entry(figures=replace(FIGURES, n_errors=6))))
    assert text == "fail: tiny · multi: 6 of 100 samples failed (6.0%, 5.0% allowed)"
    assert told(held_against(base, entry(figures=replace(FIGURES, n_errors=90)), max_error_share=None)) == []
    assert told(held_against(entry(), entry(figures=replace(FIGURES, n_samples=0)))) == []


def test_a_latency_that_is_not_looked_at_decides_nothing() -> None:
    slow = entry(figures=replace(FIGURES, latency_s=1.2))
    assert told(held_against(entry(), slow, max_latency_growth=None)) == []
    (text,) = told(held_against(entry(), slow, max_latency_growth=0.5))
    assert text == "fail: tiny · multi: the median call takes 1.20 s instead of 0.50 s (+50% allowed, n = 100)"


def test_tables_are_matched_by_their_names_and_systems_by_theirs() -> None:
    base = entry({"a": _alternating(0.8), "b": _alternating(0.8)})
    night = entry({"c": _alternating(0.8), "b": _alternating(0.8), "a": _alternating(0.8)})
    assert matched_entries([base], [night]) == [(base, night)]
    assert shared_labels(base, night) == ["b", "a"]
    assert changed_terms(base, replace(night, made_with={"data": "abc"})) == ["scoring"]
    assert changed_terms(replace(base, made_with={}), replace(night, made_with={})) == []


def test_a_pooled_figure_is_judged_where_either_side_has_it_by_sample() -> None:
    scored = entry(pooled=("em",))
    nothing = {"multi": scored.table.values["multi"] * [1, np.nan]}
    blank = replace(scored, table=replace(scored.table, values=nothing))
    config = GateConfig(metrics={"crosslingual": ["em"]})
    for base, own in ((scored, blank), (blank, scored), (scored, scored)):
        assert judged_metrics(base.table, own.table, config) == ["em"]
    assert judged_metrics(blank.table, blank.table, GateConfig()) == ["f1"]
    assert judged_metrics(blank.table, blank.table, GateConfig(metrics={"another": ["em"]})) == ["f1"]


@pytest.mark.parametrize("higher_is_better", [True, False, None])
@pytest.mark.parametrize("change", [0.06, -0.06])
def test_a_change_within_the_smallest_effect_passes_whichever_way(higher_is_better: bool | None, change: float) -> None:
    def turned(values: Any) -> Any:
        one = entry({"multi": values})
        declared = [replace(metric, higher_is_better=higher_is_better) for metric in one.table.declared]
        return replace(one, table=replace(one.table, declared=declared))

    base, night = turned(np.full(N, 0.5)), turned(np.full(N, 0.5) + change + np.linspace(-0.001, 0.001, N))
    assert held_against(base, night).verdict == "pass"


def test_at_nine_tenths_of_the_samples_it_is_the_test_that_is_too_small() -> None:
    night = entry({"multi": _alternating(0.8)[:90]}, ids=range(90))
    (text,) = told(held_against(entry(), night, min_effect=0.001))
    assert "is too small a test to rule out a drop of 0.001" in text


def test_what_one_seed_cannot_tell_is_said() -> None:
    def of_seeds(*seeds: int) -> Any:
        one = entry()
        by_seed = {"multi": dict.fromkeys(seeds, one.table.values["multi"])}
        return replace(one, table=replace(one.table, made_by_seed=frozenset({"multi"}), by_seed=by_seed))

    assert told(held_against(of_seeds(0), of_seeds(0))) == [
        "inconclusive: tiny · multi: F1 0.800 against 0.800 (difference +0.000, no test, n = 100) cannot be judged: "
        "one seed of an optimizer says nothing of the next"
    ]


# -- the page ----------------------------------------------------------------------------------------------------------

COMPARED = Comparison(
    "s", "b", "m", "x", "base", "f", "F1", digits=2, mean=0.5, baseline_mean=0.75, difference=-0.25, ci_low=-0.3,
    ci_high=-0.2, p_holm=0.0123, n_pairs=40, verdict="worse",
)  # fmt: skip


def test_the_page_has_each_kind_of_reason_under_its_heading_and_no_heading_alone() -> None:
    reasons = [Reason("note", "n1"), Reason("fail", "f1"), Reason("inconclusive", "i1"), Reason("fail", "f2")]
    page = gate_markdown("night", "r", GateResult("fail", reasons, [], None), [])
    assert page == (
        "# FAIL: night\n\nRun r, held against baseline (none accepted).\n\n## Why it fails\n\n- f1\n- f2\n\n"
        "## What cannot be told\n\n- i1\n\n## Worth knowing\n\n- n1\n"
    )


def test_the_page_of_a_pass_has_its_figures_and_the_last_nights() -> None:
    nights = [{"night": "2", "why": "a|b"}, {"night": "1", "f1": "0.5"}]
    page = gate_markdown("night", "r", GateResult("pass", [], [COMPARED], "v1"), nights)
    assert page.splitlines()[:3] == ["# PASS: night", "", "Run r, held against baseline v1."]
    assert page.partition("## Judged figures\n\n")[2].partition("\n\n")[0].splitlines() == [
        "| benchmark | system | model | metric | baseline | tonight | difference | 95% CI | p (Holm) | n | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "| b | x | m | F1 | 0.75 | 0.50 | -0.25 | [-0.30, -0.20] | 0.012 | 40 | worse |",
    ]
    assert page.partition("## Last nights\n\n")[2] == (
        "| night | why | f1 |\n| --- | --- | --- |\n| 2 | a\\|b | - |\n| 1 | - | 0.5 |\n"
    )


@pytest.mark.parametrize(("explanation", "shown"), [(None, False), (Explanation([], [], [], None, None), True)])
def test_what_moved_a_night_has_a_section_where_it_is_known(explanation: Explanation | None, shown: bool) -> None:
    result = GateResult("inconclusive", [], [], "v1", explanation)
    page = gate_markdown("night", "r", result, [])
    assert page.startswith("# INCONCLUSIVE: night")
    assert ("## What moved it" in page) is shown
    assert (result.to_json()["explanation"] is not None) is shown
