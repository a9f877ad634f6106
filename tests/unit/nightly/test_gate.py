"""The gate on planted nights: each reason by itself, and no pass that was not earned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.score_table import ScoreTable
from seedbed.errors import UserError
from seedbed.nightly.baseline import Baseline, Entry, Figures
from seedbed.nightly.gate import GateResult, judge
from seedbed.suite import Metric
from seedbed.sweep.config import GateConfig

N = 100
FIGURES = Figures(
    n_seeds=1, n_samples=N, n_errors=0, tokens=50_000, list_usd=1.0, latency_s=0.5, n_latencies=N
)  # fmt: skip
MADE_WITH = {"scoring": "1", "data": "abc"}


def entry(
    values: Mapping[str, Any] | None = None,
    *,
    metrics: tuple[str, ...] = ("f1", "em"),
    ids: range = range(N),
    figures: Figures = FIGURES,
    made_with: Mapping[str, str] = MADE_WITH,
    pooled: tuple[str, ...] = (),
) -> Entry:
    """A table of the suite crosslingual; `values` are the F1 of its systems, EM is half of that."""
    given = {"multi": _alternating(0.8)} if values is None else values
    arrays = {label: np.column_stack([own, np.asarray(own) / 2]) for label, own in given.items()}
    table = ScoreTable(
        key=("crosslingual", "tiny", "reader"),
        baseline=next(iter(arrays)),
        declared=[Metric(name, name.upper(), kind="pooled" if name in pooled else "mean") for name in metrics],
        reference=frozenset(),
        sample_ids=[f"s{i}" for i in ids],
        clusters=np.arange(len(ids)),
        values=arrays,
        seeds={},
        cells={},
        failures=[],
        failure_counts={},
    )
    return Entry(table, made_with, dict.fromkeys(arrays, figures))


def _alternating(share: float, n: int = N) -> Any:
    return (np.arange(n) < share * n).astype(float)


def baseline(*entries: Entry) -> Baseline:
    return Baseline(1, "night", "20260101T000000-aaaa", "2026-01-01T00:00:00Z", None, "", entries or (entry(),))


def verdict(night: Entry | list[Entry], status: str = "completed", **config: Any) -> GateResult:
    entries = night if isinstance(night, list) else [night]
    return judge(baseline(), entries, status, GateConfig.model_validate({"min_effect": 0.1, **config}))


def reasons(result: GateResult) -> str:
    return "\n".join(reason.text for reason in result.reasons if reason.level == result.verdict)


def test_the_same_scores_pass() -> None:
    result = verdict(entry())
    assert result.verdict == "pass"
    assert result.headline.startswith("pass: no worse than v1")


def test_a_significant_drop_beyond_the_smallest_effect_fails() -> None:
    result = verdict(entry({"multi": _alternating(0.6)}))
    assert result.verdict == "fail"
    assert "multi: F1 0.600 against 0.800" in reasons(result)
    assert "n = 100" in reasons(result)


def test_a_significant_drop_below_the_smallest_effect_is_only_noted() -> None:
    slightly = np.clip(_alternating(0.8) - 0.01, 0, 1)
    result = verdict(entry({"multi": slightly}))
    assert result.verdict == "pass"
    assert any("worse by less than min_effect" in reason.text for reason in result.reasons)


def test_a_gain_passes_and_is_noted() -> None:
    result = verdict(entry({"multi": _alternating(1.0)}))
    assert result.verdict == "pass"
    assert any("is better" in reason.text for reason in result.reasons)


def test_too_few_samples_to_rule_a_drop_out_are_inconclusive() -> None:
    small = entry({"multi": _alternating(0.8, 12)}, ids=range(12))
    result = judge(baseline(small), [small], "completed", GateConfig(min_effect=0.1))
    assert result.verdict == "inconclusive"
    assert "too small a test to rule out a drop of 0.1" in reasons(result)


def test_a_run_without_results_is_inconclusive() -> None:
    result = verdict([], status="partial")
    assert result.verdict == "inconclusive"
    assert "no cell of it has a result" in result.headline


@pytest.mark.parametrize("status", ["partial", "budget_reached", "failed", "broken (OSError: disk)"])
def test_a_run_that_did_not_complete_never_passes(status: str) -> None:
    result = verdict(entry(), status=status)
    assert result.verdict == "inconclusive"
    assert f"the run is {status}" in reasons(result)


def test_without_a_baseline_nothing_is_decided() -> None:
    result = judge(None, [entry()], "completed", GateConfig())
    assert result.verdict == "inconclusive"
    assert "there is no accepted baseline" in result.headline


def test_a_system_of_the_baseline_that_is_missing_is_named() -> None:
    both = {"multi": _alternating(0.8), "cross": _alternating(0.7)}
    result = judge(baseline(entry(both)), [entry()], "completed", GateConfig(min_effect=0.1))
    assert result.verdict == "inconclusive"
    assert "tiny · cross · reader is in the baseline" in reasons(result)


def test_samples_of_the_baseline_that_were_not_scored_make_it_inconclusive() -> None:
    fewer = entry({"multi": _alternating(0.8)[:80]}, ids=range(80))
    assert "only 80% of the baseline's samples" in reasons(verdict(fewer))


def test_order_of_samples_and_metrics_does_not_matter() -> None:
    turned = entry({"multi": _alternating(0.8)[::-1]}, ids=range(N - 1, -1, -1))
    swapped = replace(
        turned,
        table=replace(
            turned.table,
            declared=turned.table.declared[::-1],
            values={k: v[:, ::-1] for k, v in turned.table.values.items()},
        ),
    )
    assert verdict(turned).verdict == "pass"
    assert verdict(swapped, metrics={"crosslingual": ["f1", "em"]}).verdict == "pass"


@pytest.mark.parametrize(
    ("changed", "words"),
    [("scoring", "the scoring of suite crosslingual has changed"), ("data", "the data of benchmark tiny has changed")],
)
def test_scores_made_on_other_terms_are_not_compared(changed: str, words: str) -> None:
    result = verdict(entry({"multi": _alternating(0.1)}, made_with={**MADE_WITH, changed: "other"}))
    assert result.verdict == "inconclusive"
    assert words in reasons(result)


def test_too_many_errors_fail() -> None:
    failed = verdict(entry(figures=replace(FIGURES, n_errors=8)))
    assert "8 of 100 samples failed (8.0%, 5.0% allowed)" in reasons(failed)
    assert verdict(entry(figures=replace(FIGURES, n_errors=8)), max_error_share=0.1).verdict == "pass"


def test_errors_the_baseline_had_too_are_allowed_for() -> None:
    had = baseline(entry(figures=replace(FIGURES, n_errors=6)))
    night = [entry(figures=replace(FIGURES, n_errors=8))]
    assert judge(had, night, "completed", GateConfig(min_effect=0.1)).verdict == "pass"


def test_a_sample_that_costs_more_than_allowed_fails_in_dollars_or_tokens() -> None:
    dear = entry(figures=replace(FIGURES, list_usd=1.3))
    assert "a sample costs +30% in dollars (+25% allowed)" in reasons(verdict(dear))
    assert verdict(dear, max_cost_growth=None).verdict == "pass"
    unpriced = entry(figures=replace(FIGURES, list_usd=None, tokens=70_000))
    assert "a sample costs +40% in tokens" in reasons(verdict(unpriced))


def test_cost_is_a_samples_not_a_runs() -> None:
    twice = replace(FIGURES, n_samples=2 * N, list_usd=2.0, tokens=100_000, n_seeds=2)
    assert verdict(entry(figures=twice)).verdict == "pass"


def test_slower_calls_fail_unless_they_are_few_or_the_difference_is_tiny() -> None:
    slow = replace(FIGURES, latency_s=1.2)
    assert "the median call takes 1.20 s instead of 0.50 s" in reasons(verdict(entry(figures=slow)))
    assert verdict(entry(figures=replace(slow, n_latencies=5))).verdict == "pass"
    assert verdict(entry(figures=replace(slow, latency_s=None))).verdict == "pass"
    quick = baseline(entry(figures=replace(FIGURES, latency_s=0.01)))
    night = [entry(figures=replace(FIGURES, latency_s=0.05))]
    assert judge(quick, night, "completed", GateConfig(min_effect=0.1)).verdict == "pass"


def test_a_metric_the_gate_cannot_judge_is_named_with_those_it_can() -> None:
    with pytest.raises(UserError, match=r"gate\.metrics\.crosslingual: no metric 'f2'; known: f1, em"):
        verdict(entry(), metrics={"crosslingual": ["f2"]})
    blank = entry(pooled=("em",))
    blank = replace(
        blank, table=replace(blank.table, values={k: v * [1, np.nan] for k, v in blank.table.values.items()})
    )
    with pytest.raises(UserError, match=r"'em' is a figure of the whole run .* cannot be paired; take f1"):
        judge(baseline(blank), [blank], "completed", GateConfig(metrics={"crosslingual": ["em"]}))
    # Nor by a baseline that did not have the figure yet.
    declared = blank.table.declared[:1]
    before = replace(
        blank,
        table=replace(blank.table, declared=declared, values={k: v[:, :1] for k, v in blank.table.values.items()}),
    )
    with pytest.raises(UserError, match=r"'em' is a figure of the whole run"):
        judge(baseline(before), [blank], "completed", GateConfig(metrics={"crosslingual": ["em"]}))


def test_what_is_judged_by_default_is_declared_not_read_off_values() -> None:
    night = verdict(entry(metrics=("em", "f1"), pooled=("em",)))
    assert [c.metric for c in night.comparisons] == ["f1"]


def test_a_rate_that_was_nothing_everywhere_fails_when_it_appears() -> None:
    """Violations pooled over a run: none in the baseline, some tonight. Lower is better."""
    none, some = np.zeros(N), np.where(np.arange(N) % 4 == 0, 1.0, 0.0)
    quiet, loud = entry({"a": none}, pooled=("f1",)), entry({"a": some}, pooled=("f1",))
    low = [replace(m, higher_is_better=False) for m in quiet.table.declared]
    quiet, loud = (replace(e, table=replace(e.table, declared=low)) for e in (quiet, loud))
    result = judge(baseline(quiet), [loud], "completed", GateConfig(metrics={"crosslingual": ["f1"]}))
    assert result.verdict == "fail"
    assert judge(baseline(quiet), [quiet], "completed", GateConfig(metrics={"crosslingual": ["f1"]})).verdict == "pass"


def test_holm_is_taken_over_all_systems_of_a_metric() -> None:
    """One drop with p just under 0.05 is significant alone, and not among five systems."""
    drop = _alternating(0.8)
    drop[:6] = 0.0
    alone = judge(
        baseline(entry({"a": _alternating(0.8)})), [entry({"a": drop})], "completed", GateConfig(min_effect=0.01)
    )
    assert alone.comparisons[0].p_holm == pytest.approx(0.03125)
    many = {name: _alternating(0.8) for name in "abcde"}
    among = judge(baseline(entry(many)), [entry({**many, "a": drop})], "completed", GateConfig(min_effect=0.01))
    assert among.comparisons[0].p_holm == pytest.approx(5 * 0.03125)
    assert alone.verdict == "fail"
    assert among.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("config", "at", "beyond"),
    [
        ({"max_error_share": 0.25}, {"n_errors": 25}, {"n_errors": 26}),
        ({"max_cost_growth": 0.5}, {"list_usd": 1.5}, {"list_usd": 1.51}),
        ({"max_latency_growth": 0.5}, {"latency_s": 0.75}, {"latency_s": 0.76}),
    ],
    ids=str,
)
def test_what_is_just_allowed_passes_and_a_little_more_fails(
    config: dict[str, float], at: dict[str, Any], beyond: dict[str, Any]
) -> None:
    assert verdict(entry(figures=replace(FIGURES, **at)), **config).verdict == "pass"
    assert verdict(entry(figures=replace(FIGURES, **beyond)), **config).verdict == "fail"


def test_a_model_that_is_not_the_one_of_the_baseline_is_noted() -> None:
    def answered(fingerprint: str | None) -> Entry:
        who = {"model": "reader", "answered_by": "gpt-x", "fingerprint": fingerprint, "provider": "openai"}
        return replace(entry(), answerers=[{**who, "service_tier": None, "answers": 100}])

    before = baseline(answered("fp_1"))
    result = judge(before, [answered("fp_2")], "completed", GateConfig(min_effect=0.1))
    assert result.verdict == "pass"
    notes = [reason.text for reason in result.reasons if reason.level == "note"]
    assert notes == ["reader: its fingerprint was fp_1 in the baseline and is fp_2 now"]
    same = judge(before, [answered("fp_1")], "completed", GateConfig(min_effect=0.1))
    assert not same.reasons
    # What one of the two does not know is no change.
    assert not judge(before, [answered(None)], "completed", GateConfig(min_effect=0.1)).reasons


def held_against(base: Entry | Baseline, night: Entry, **config: Any) -> GateResult:
    accepted = base if isinstance(base, Baseline) else baseline(base)
    return judge(accepted, [night], "completed", GateConfig.model_validate({"min_effect": 0.1, **config}))


def told(result: GateResult) -> list[str]:
    return [f"{reason.level}: {reason.text}" for reason in result.reasons]


def test_the_headline_has_the_first_reason_that_decides_and_counts_the_others() -> None:
    bad = replace(FIGURES, n_errors=8, list_usd=1.3)
    one, two = verdict(entry(figures=replace(FIGURES, n_errors=8))), verdict(entry(figures=bad))
    assert one.headline == "fail: tiny · multi: 8 of 100 samples failed (8.0%, 5.0% allowed)"
    assert two.headline == f"{one.headline} (and 1 more)"
    assert verdict(entry()).headline == "pass: no worse than v1 (run 20260101T000000-aaaa, accepted 2026-01-01)"


def test_an_unfinished_run_without_a_baseline_is_told_both() -> None:
    result = judge(None, [entry()], "partial", GateConfig())
    assert len(result.reasons) == 2
    assert (result.baseline, result.comparisons) == (None, [])


def test_a_failure_decides_before_what_cannot_be_told() -> None:
    result = verdict(entry({"multi": _alternating(0.6)}), status="partial")
    assert result.verdict == "fail"
    assert "not all of its cells have a result" in "\n".join(told(result))


def test_a_price_that_was_nothing_or_is_unknown_is_replaced_by_tokens() -> None:
    free = entry(figures=replace(FIGURES, list_usd=0.0))
    dear = entry(figures=replace(FIGURES, list_usd=9.0, tokens=60_000))
    assert held_against(free, dear).verdict == "pass"
    dear = entry(figures=replace(FIGURES, list_usd=9.0, tokens=70_000))
    assert "+40% in tokens" in reasons(held_against(free, dear))
    now_free = entry(figures=replace(FIGURES, list_usd=0.0, tokens=70_000))
    assert held_against(entry(), now_free).verdict == "pass", "a price of nothing is a price"


@pytest.mark.parametrize("side", ["before", "now"])
@pytest.mark.parametrize("nothing", [{"n_samples": 0}, {"list_usd": None, "tokens": 0}])
def test_what_cost_nothing_or_was_never_asked_has_no_growth(side: str, nothing: dict[str, Any]) -> None:
    none = entry(figures=replace(FIGURES, **nothing))
    pair = (none, entry()) if side == "before" else (entry(), none)
    assert not [text for text in told(held_against(*pair)) if "costs" in text]


def test_twenty_calls_make_a_median_and_nineteen_do_not() -> None:
    slow = replace(FIGURES, latency_s=1.2)
    for own, base, failed in ((20, 20, True), (19, 20, False), (20, 19, False)):
        before = entry(figures=replace(FIGURES, n_latencies=base))
        result = held_against(before, entry(figures=replace(slow, n_latencies=own)))
        assert (result.verdict == "fail") is failed
    unknown = entry(figures=replace(FIGURES, latency_s=None))
    assert held_against(unknown, entry(figures=slow)).verdict == "pass"


def test_a_tenth_of_a_second_is_no_difference() -> None:
    before = entry(figures=replace(FIGURES, latency_s=0.05))
    for latency, expected in ((0.149, "pass"), (0.151, "fail")):
        night = entry(figures=replace(FIGURES, latency_s=latency))
        assert held_against(before, night, max_latency_growth=0.5).verdict == expected


def _turned(one: Entry, higher_is_better: bool | None) -> Entry:
    declared = [replace(metric, higher_is_better=higher_is_better) for metric in one.table.declared]
    return replace(one, table=replace(one.table, declared=declared))


@pytest.mark.parametrize(
    ("higher_is_better", "up", "down"),
    [(True, "better", "worse"), (False, "worse", "better"), (None, "higher", "lower")],
)
def test_a_small_significant_difference_is_noted_in_the_words_of_its_metric(
    higher_is_better: bool | None, up: str, down: str
) -> None:
    base = _turned(entry({"multi": np.full(N, 0.5)}), higher_is_better)
    for change, word in ((0.02, up), (-0.02, down)):
        moved = np.full(N, 0.5) + change + np.linspace(-0.001, 0.001, N)
        result = held_against(base, _turned(entry({"multi": moved}), higher_is_better), min_effect=0.1)
        (note,) = told(result)
        assert result.verdict == "pass"
        assert f" is {word}" in note
        assert note.startswith("note: tiny · multi: F1 ")
        assert note.endswith("by less than min_effect") is (word == "worse")


@pytest.mark.parametrize("share", [0.6, 1.0])
def test_a_figure_without_a_good_side_passes_only_near_where_it_was(share: float) -> None:
    base, night = (_turned(entry({"multi": _alternating(s)}), None) for s in (0.8, share))
    assert held_against(base, night).verdict != "pass"
    assert held_against(base, base).verdict == "pass"


def test_what_would_decide_it_is_said() -> None:
    small = entry({"multi": _alternating(0.8, 12)}, ids=range(12))
    (text,) = told(held_against(small, small))
    assert "is too small a test to rule out a drop of 0.1 (it may be 0." in text
    assert "samples would decide it" in text


def test_the_same_scores_on_more_of_the_samples_are_a_pass_and_one_too_few_are_not() -> None:
    for n, expected in ((90, "pass"), (89, "inconclusive")):
        night = entry({"multi": _alternating(0.8)[:n]}, ids=range(n))
        assert held_against(entry(), night, min_effect=0.2).verdict == expected


def test_samples_that_the_baseline_did_not_score_are_not_asked_for() -> None:
    half = np.where(np.arange(N) < 60, 1.0, np.nan)
    assert held_against(entry({"multi": half}), entry({"multi": half})).verdict == "pass"
    (only,) = held_against(entry({"multi": half}), entry({"multi": np.ones(N)})).comparisons
    assert only.n_pairs == 60


def test_nothing_in_common_is_inconclusive() -> None:
    result = held_against(entry({"multi": _alternating(0.8)}), entry({"cross": _alternating(0.8)}))
    assert result.verdict == "inconclusive"
    assert "share no system on the same samples" in reasons(result)
    assert "tiny · multi · reader is in the baseline and has no result in this run" in reasons(result)


def test_two_changes_of_terms_are_two_reasons() -> None:
    result = verdict(entry(made_with={"scoring": "2", "data": "xyz"}))
    assert len([text for text in told(result) if "has changed since the baseline" in text]) == 2
