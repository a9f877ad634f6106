"""What labels say of a judge: which count, what they make of means and contests, how far people and judge agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.agreement import kappa
from seedbed.analysis.corrected import Corrected, corrected, labels_to_settle
from seedbed.analysis.judge_check import TOO_FEW, LabelledSystem, LabelledTable, check_judge, with_families
from seedbed.analysis.judge_results import CorrectedContest, CorrectedMean, JudgeCheck
from seedbed.analysis.label_draw import chances
from seedbed.analysis.results import Comparison
from seedbed.suite import Metric

N, DRAWN = 16, 12
NAN = math.nan
TRUTH = np.array([2.0, 4.0, 3.0, 5.0, 1.0, 3.0, 4.0, 2.0, 5.0, 3.0, 4.0, 2.0, 3.0, 4.0, 1.0, 5.0])
OTHER = np.array([3.0, 4.0, 3.0, 4.0, 2.0, 2.0, 4.0, 1.0, 5.0, 2.0, 4.0, 3.0, 2.0, 3.0, 1.0, 4.0])
LENIENT = np.where(np.arange(N) % 4 == 1, 0.5, 0.0)
"""What the judge adds: to four of sixteen samples, so that few errors are seen."""
KIND = Metric("kind", "Kindness", range=(1.0, 5.0), digits=2)
NUMBERS = (np.arange(N) + 1) / 20
"""Samples are drawn as they stand; of the first twelve the largest number not taken is 13/20."""
SIZES = np.where(np.arange(N) < 6, 1.5, 1.0)


def system(label: str, truth: Any, **more: Any) -> LabelledSystem:
    """With labels of the first twelve."""
    judged = truth + LENIENT
    drawn = np.arange(N) < DRAWN
    none = np.zeros(N, dtype=bool)
    made = LabelledSystem(
        label=label,
        labels=np.where(drawn, truth, NAN),
        judged=judged,
        everywhere=judged,
        settled=drawn,
        certain=none,
        by_rule=none,
        answers=[f"{label} {i}" for i in range(N)],
    )
    return replace(made, **more)


def table(*systems: LabelledSystem, **more: Any) -> LabelledTable:
    made = LabelledTable(
        "talk", "words", "reader", KIND, np.arange(N), NUMBERS, SIZES, systems, facts=[{}] * N, by_rater={}
    )
    return replace(made, **more)


OWN, BASE = system("own", TRUTH), system("base", OTHER)
CHANCE = chances(NUMBERS, SIZES, DRAWN)


def compared(**more: Any) -> Comparison:
    made = Comparison("talk", "words", "reader", "own", "base", "kind", difference=0.5, margin=0.2, verdict="better")
    return replace(made, **more)


def contest(made: LabelledTable, **more: Any) -> CorrectedContest:
    (found,) = check_judge(made, [compared(**more)]).contests
    return found


def by_label(check: JudgeCheck) -> Mapping[str, CorrectedMean]:
    return {mean.label: mean for mean in check.means}


def in_figures(found: Corrected) -> tuple[float, float, float]:
    return found.mean, *found.interval()


def same(told: tuple[float | None, ...], figures: tuple[float, ...]) -> bool:
    return told == pytest.approx(figures, abs=1e-9)


def test_a_check_has_the_names_of_its_table_and_metric() -> None:
    found = check_judge(table(OWN, by_rater={"bob": {(0, "a"): 1.0}, "ann": {}}), [])
    assert (found.suite, found.benchmark, found.model) == ("talk", "words", "reader")
    assert (found.metric, found.metric_label, found.digits) == ("kind", "Kindness", 2)
    assert (found.n_skipped, list(found.raters.items())) == (0, [("ann", 0), ("bob", 1)])


def test_labels_after_the_first_sample_that_nobody_looked_at_wait() -> None:
    """In the order of the draw, not of the table: there the sample without a look is the fifth."""
    settled = np.ones(N, dtype=bool)
    settled[N - 5] = False
    labels = np.where(settled, TRUTH, NAN)
    made = table(system("own", TRUTH, labels=labels, settled=settled), numbers=NUMBERS[::-1], sizes=np.ones(N))
    found = check_judge(made, [])
    assert (found.n_labels, found.n_waiting) == (4, N - 1 - 4)
    assert by_label(found)["own"].n_labels == 4


def test_once_all_are_settled_every_label_counts_alike() -> None:
    everything = np.ones(N, dtype=bool)
    found = check_judge(table(system("own", TRUTH, labels=TRUTH, settled=everything)), [])
    assert (found.n_labels, found.n_waiting) == (N, 0)
    assert found.kappa == pytest.approx(kappa(TRUTH, TRUTH + LENIENT))


def test_labels_that_a_rule_gave_are_nobodys() -> None:
    by_rule = np.isin(np.arange(N), [0, 3])
    own = system("own", TRUTH, by_rule=by_rule)
    found = check_judge(table(own), [])
    assert (found.n_labels, found.n_waiting, by_label(found)["own"].n_labels) == (DRAWN - 2, 0, DRAWN - 2)
    (bias,) = found.biases
    assert bias.n == DRAWN - 2


def test_samples_passed_over_are_settled_and_no_labels() -> None:
    labels = np.where(np.arange(N) < DRAWN, TRUTH, NAN)
    labels[2] = NAN
    found = check_judge(table(system("own", TRUTH, labels=labels)), [])
    assert (found.n_labels, found.n_waiting) == (DRAWN - 1, 0)


@pytest.mark.parametrize("kind", ["mean", "rate"])
@pytest.mark.parametrize("ends", [(1.0, 5.0), (-1.0, 5.0), None])
def test_a_mean_is_that_of_the_judge_corrected_within_its_range(kind: Any, ends: Any) -> None:
    """Of a rate an error counts for the part of the range that it spans."""
    certain = np.isin(np.arange(N), [1, 14])
    own = system("own", TRUTH, certain=certain)
    found = by_label(check_judge(table(own, BASE, metric=Metric("kind", "Kindness", kind=kind, range=ends)), []))
    told = found["own"]
    expected = corrected(
        own.labels, own.judged, own.everywhere, CHANCE, np.arange(N),
        certain=certain, ends=ends or (-math.inf, math.inf), step=ends and ends[1] - ends[0], two_marks=kind == "rate",
    )  # fmt: skip
    assert expected is not None
    assert told.mean is not None
    assert same((told.mean, told.ci_low, told.ci_high), in_figures(expected))
    assert (told.n_samples, told.judged) == (N, pytest.approx((TRUTH + LENIENT).mean()))
    silent = np.where(certain, own.everywhere, 0.0)
    alone = corrected(own.labels, silent, silent, CHANCE, np.arange(N), certain=certain)
    assert alone is not None
    assert told.worth == pytest.approx(alone.variance / expected.variance)
    assert list(found) == ["own", "base"]


def test_a_sample_without_a_score_counts_in_no_mean() -> None:
    everywhere = np.where(np.arange(N) == 3, NAN, TRUTH)
    told = by_label(check_judge(table(system("own", TRUTH, everywhere=everywhere)), []))["own"]
    assert (told.n_samples, told.judged) == (N - 1, pytest.approx(np.nanmean(everywhere)))
    nothing = system("own", TRUTH, everywhere=np.full(N, NAN))
    silent = by_label(check_judge(table(nothing), []))["own"]
    assert (silent.n_samples, math.isnan(silent.judged), silent.mean) == (0, True, None)


def test_what_varies_nowhere_is_worth_no_number_of_labels() -> None:
    mark, everything = np.full(N, 3.0), np.ones(N, dtype=bool)
    own = system("own", mark, labels=mark, judged=mark, everywhere=mark, settled=everything)
    told = by_label(check_judge(table(own, metric=replace(KIND, range=None)), []))["own"]
    assert (told.mean, told.ci_low, told.ci_high, told.worth) == (3.0, 3.0, 3.0, None)


def test_too_few_labels_correct_nothing() -> None:
    few = np.arange(N) < 4
    own, base = (
        system(label, truth, labels=np.where(few, truth, NAN), settled=few)
        for label, truth in (("own", TRUTH), ("base", OTHER))
    )
    found = check_judge(table(own, base), [compared(margin=None)])
    told = by_label(found)["own"]
    assert (told.n_labels, told.mean, told.ci_low, told.ci_high, told.worth) == (4, None, None, None, None)
    (left,) = found.contests
    assert (left.n_labels, left.difference, left.p, left.reason) == (0, None, None, TOO_FEW)
    assert (left.judged, left.judged_verdict, left.margin) == (0.5, "better", 0.0)
    assert found.biases[0].bias == pytest.approx(0.125)
    assert (found.biases[0].ci_low, found.biases[0].ci_high) == (None, None)


@pytest.mark.parametrize("kind", ["mean", "rate"])
@pytest.mark.parametrize("ends", [(1.0, 5.0), None])
def test_a_contest_is_the_paired_difference_corrected(kind: Any, ends: Any) -> None:
    """Where both gave one answer the difference is none, and where a rule gave both their scores it is known."""
    names = [f"base {i}" if i in (2, 13) else f"own {i}" for i in range(N)]
    own = system("own", TRUTH, answers=names, certain=np.isin(np.arange(N), [4, 5]))
    base = replace(BASE, judged=OTHER, everywhere=OTHER + 0.1, certain=np.isin(np.arange(N), [5, 6]))
    found = contest(table(own, base, metric=replace(KIND, kind=kind, range=ends)))
    alike = np.isin(np.arange(N), [2, 13])
    expected = corrected(
        own.labels - base.labels, own.judged - base.judged,
        np.where(alike, 0.0, own.everywhere - base.everywhere), CHANCE, np.arange(N),
        certain=np.isin(np.arange(N), [2, 5, 13]), ends=(-4.0, 4.0) if ends else (-math.inf, math.inf),
        step=4.0 if ends else None, two_marks=kind == "rate",
    )  # fmt: skip
    assert expected is not None
    assert found.difference is not None
    assert same((found.difference, found.ci_low, found.ci_high), in_figures(expected))
    assert found.p == pytest.approx(expected.p)
    assert (found.n_labels, found.more_labels) == (DRAWN - 2, labels_to_settle(expected, 0.2))
    assert (found.reason, found.verdict, found.survives) == (None, None, None)


def test_a_contest_of_systems_without_labels_is_not_told() -> None:
    others = [compared(label="new"), compared(baseline="old"), compared()]
    assert [(c.label, c.baseline) for c in check_judge(table(OWN, BASE), others).contests] == [("own", "base")]


def test_a_contest_counts_what_both_were_looked_at_for() -> None:
    short = replace(BASE, settled=np.arange(N) < 8)
    found = check_judge(table(OWN, short), [compared()])
    assert found.contests[0].n_labels == 8
    assert (found.n_labels, found.n_waiting) == (DRAWN + 8, DRAWN - 8)


def test_what_seeds_vary_by_is_added_where_they_make_another_system() -> None:
    plain = contest(table(OWN, BASE))
    spread = contest(table(OWN, BASE, seeds={"own": (0.04, 2.0)}))
    labels, judged = OWN.labels - BASE.labels, OWN.judged - BASE.judged
    found = corrected(labels, judged, judged, CHANCE, np.arange(N), ends=(-4, 4), step=4.0)
    assert found is not None
    wide = found.with_seeds(0.04, 2.0)
    assert same((plain.difference, plain.ci_low, plain.ci_high), in_figures(found))
    assert same((spread.difference, spread.ci_low, spread.ci_high), in_figures(wide))
    assert (plain.p, spread.p) == (pytest.approx(found.p), pytest.approx(wide.p))


def test_one_seed_of_an_optimizer_leaves_a_difference_and_no_test() -> None:
    found = contest(table(OWN, BASE, seeds={"own": None}), reason="one seed")
    assert found.difference == pytest.approx(contest(table(OWN, BASE)).difference)
    assert (found.p, found.ci_low, found.ci_high, found.reason) == (None, None, None, "one seed")


def test_agreement_with_the_judge_is_weighted_by_the_chances_of_the_draw() -> None:
    found = check_judge(table(OWN, BASE), [])
    truth, judged = (
        np.concatenate([getattr(one, name)[:DRAWN] for one in (OWN, BASE)]) for name in ("labels", "judged")
    )
    weights = np.tile(1 / CHANCE[:DRAWN], 2)
    assert found.kappa == pytest.approx(kappa(truth, judged, weights))
    assert found.kappa != pytest.approx(kappa(truth, judged))
    assert CHANCE[:6] == pytest.approx(1.5 * CHANCE[6:DRAWN])


def test_labels_all_alike_show_no_agreement() -> None:
    mark = np.full(N, 3.0)
    assert check_judge(table(system("own", mark, judged=mark)), []).kappa is None


def test_without_a_system_that_was_looked_at_there_is_nothing_to_tell() -> None:
    found = check_judge(table(facts=[{"half": str(i % 2)} for i in range(N)]), [compared()])
    assert (found.n_labels, found.n_waiting, found.kappa) == (0, 0, None)
    assert (found.biases, found.means, found.contests) == ([], [], [])


def _marks(*values: float, first: int = 0) -> dict[tuple[int, str], float]:
    return {(place, "answer"): value for place, value in enumerate(values, start=first)}


def test_raters_are_held_against_each_other_where_both_gave_a_mark() -> None:
    found = check_judge(table(OWN, by_rater={"bob": _marks(1, 2, 5, 4), "ann": _marks(2, 5, 3, 1, 1, 1, first=1)}), [])
    assert found.n_both == 3
    assert found.rater_kappa == pytest.approx(kappa(np.array([2.0, 5.0, 4.0]), np.array([2.0, 5.0, 3.0])))


def test_of_several_raters_the_two_with_most_in_common_speak_and_of_equals_the_first_by_name() -> None:
    ann, bob, cat = _marks(1, 2, 3), _marks(1, 2, 4), _marks(3, 2, 1)
    alike = check_judge(table(OWN, by_rater={"cat": cat, "bob": bob, "ann": ann}), [])
    assert alike.n_both == 3
    assert alike.rater_kappa == pytest.approx(kappa(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])))
    more = check_judge(table(OWN, by_rater={"cat": {**cat, **_marks(4, first=3)}, "bob": {**bob, **_marks(5, first=3)},
                                            "ann": ann}), [])  # fmt: skip
    assert more.n_both == 4
    assert more.rater_kappa == pytest.approx(kappa(np.array([1.0, 2.0, 4.0, 5.0]), np.array([3.0, 2.0, 1.0, 4.0])))


@pytest.mark.parametrize("raters", [{}, {"ann": _marks(1, 2)}, {"ann": _marks(1), "bob": _marks(2, first=1)}])
def test_without_two_raters_of_one_answer_nobody_agrees(raters: Mapping[str, Any]) -> None:
    found = check_judge(table(OWN, by_rater=raters), [])
    assert (found.rater_kappa, found.n_both) == (None, 0)


def test_raters_with_one_mark_alone_have_no_kappa_though_they_have_it_in_common() -> None:
    found = check_judge(table(OWN, by_rater={"ann": _marks(2, 2, 2), "bob": _marks(2, 2, 2)}), [])
    assert (found.rater_kappa, found.n_both) == (None, 3)


def test_a_bias_is_the_judge_less_people_weighted_by_the_chances_of_the_draw() -> None:
    (bias,) = check_judge(table(OWN, clusters=np.arange(N) // 2), []).biases
    errors, zeros = LENIENT[:DRAWN], np.zeros(DRAWN)
    assert (bias.of, bias.value, bias.n) == ("system", "own", DRAWN)
    assert bias.bias == pytest.approx(np.average(errors, weights=1 / CHANCE[:DRAWN]))
    expected = corrected(errors, zeros, zeros, CHANCE[:DRAWN], np.arange(DRAWN) // 2)
    assert expected is not None
    assert same((bias.ci_low, bias.ci_high), expected.interval())


def test_biases_are_sliced_by_facts_that_have_more_than_one_value() -> None:
    facts = [{"half": "odd" if i % 2 else "even", "language": "en"} for i in range(N)]
    facts[0] = {}
    found = check_judge(table(OWN, BASE, facts=facts), []).biases
    assert [(bias.of, bias.value, bias.n) for bias in found] == [
        ("system", "own", DRAWN), ("system", "base", DRAWN), ("half", "even", 10), ("half", "odd", 12)
    ]  # fmt: skip
    assert [bias.bias for bias in found[2:]] == [
        pytest.approx(0.0),
        pytest.approx(np.average(LENIENT[1:DRAWN:2], weights=1 / CHANCE[1:DRAWN:2])),
    ]


def test_what_no_label_counts_for_has_no_bias() -> None:
    facts = [{"part": "late" if i >= DRAWN else "early"} for i in range(N)]
    unread = system("unread", TRUTH, judged=np.full(N, NAN))
    found = check_judge(table(OWN, unread, facts=facts), []).biases
    assert [(bias.of, bias.value) for bias in found] == [("system", "own"), ("part", "early")]


def _check(suite: str = "talk", metric: str = "kind", *ps: float | None, reference: bool = False) -> JudgeCheck:
    """With a contest a p; every difference lies between .1 and .5."""
    made = check_judge(table(OWN, BASE), [compared(reference=reference)])
    (blank,) = made.contests
    own = [replace(blank, difference=0.3, ci_low=0.1, ci_high=0.5, p=p) for p in ps]
    return replace(made, suite=suite, metric=metric, contests=own)


def _holm(*checks: JudgeCheck, alpha: float = 0.05) -> list[list[float | None]]:
    return [[contest.p_holm for contest in check.contests] for check in with_families(checks, alpha)]


def test_holm_goes_over_all_tests_of_a_metric_in_a_suite() -> None:
    assert _holm(_check("talk", "kind", 0.01, 0.04), _check("talk", "kind", 0.02)) == [[0.03, 0.04], [0.04]]
    assert _holm(_check("talk", "kind", 0.01), _check("talk", "warm", 0.02)) == [[0.01], [0.02]]
    assert _holm(_check("talk", "kind", 0.01), _check("chat", "kind", 0.02)) == [[0.01], [0.02]]
    assert _holm(_check("talk", "kind", 0.01), _check("talk", "kind", 0.02, reference=True)) == [[0.01], [0.02]]


def test_a_contest_without_a_test_stays_as_it_is_and_makes_no_other_harder() -> None:
    (found,) = with_families([_check("talk", "kind", None, 0.01)])
    assert [(c.p_holm, c.verdict, c.survives) for c in found.contests] == [(None, None, None), (0.01, "better", True)]


@pytest.mark.parametrize(
    ("judged", "p", "verdict", "survives"),
    [
        ("better", 0.049, "better", True),
        ("better", 0.05, "too small to tell", False),
        ("worse", 0.049, "better", False),
        ("too small to tell", 0.05, "too small to tell", True),
    ],
)
def test_a_verdict_survives_where_labels_say_the_same(judged: Any, p: float, verdict: str, survives: bool) -> None:
    check = _check("talk", "kind", p)
    check = replace(check, contests=[replace(check.contests[0], judged_verdict=judged)])
    (found,) = with_families([check])
    assert (found.contests[0].verdict, found.contests[0].survives) == (verdict, survives)


def test_the_level_is_asked_for() -> None:
    (found,) = with_families([_check("talk", "kind", 0.02)], alpha=0.01)
    assert found.contests[0].verdict == "too small to tell"
