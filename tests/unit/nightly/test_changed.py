"""Which parts of a cell are others than in the baseline, and which crossings tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from seedbed.nightly.changed import Changed, changed, served_changes, served_sentences
from seedbed.sweep.cell import Cell

ANSWERS = {"benchmark": "1", "system": "1", "optimizer": "1", "model": "1", "roles": "1", "suite": "1", "seed": "1"}
SCORING = {"scoring": "1", "judges": "1"}


def cell(answers: Mapping[str, str] | None = None, scoring: Mapping[str, str] | None = None) -> Cell:
    own, scored = {**ANSWERS, **(answers or {})}, {**SCORING, **(scoring or {})}
    return Cell("c", 0, "custom", "sums", "plain", "Baseline", "reader", 0, own, scored)


def who(model: str = "reader", *, answers: int = 1, **said: str) -> dict[str, Any]:
    unsaid = dict.fromkeys(("answered_by", "fingerprint", "provider", "service_tier"))
    return {"model": model, **unsaid, **said, "answers": answers}


def seen(new: Cell, *, before: Any = (), after: Any = (), judge: str | None = None) -> Changed:
    roles = {"task": "reader", **({} if judge is None else {"judge": judge})}
    return changed(cell(), new, before, after, roles)


def test_where_nothing_is_on_record_only_the_served_model_can_be_another() -> None:
    assert seen(cell()) == Changed(None, False, ("served model",), frozenset())
    assert seen(cell({"seed": "2"})) == Changed(None, False, ("served model",), frozenset()), "a seed is no change"


def test_a_judge_that_is_a_model_may_be_another_without_a_word() -> None:
    assert seen(cell(), judge="fair") == Changed("judge", False, ("served model",), frozenset())


@pytest.mark.parametrize(
    ("part", "called"),
    [("model", "model"), ("roles", "model"), ("system", "code"), ("optimizer", "code"), ("suite", "code")],
)
def test_what_changed_behind_the_answers_is_named(part: str, called: str) -> None:
    assert seen(cell({part: "2"})) == Changed(None, False, (called,), frozenset({called}))


def test_other_data_is_named_and_an_unchanged_model_may_be_served_otherwise() -> None:
    assert seen(cell({"benchmark": "2"})) == Changed(None, True, ("served model",), frozenset({"data"}))


@pytest.mark.parametrize(
    ("scoring", "called"),
    [
        ({"judges": "2"}, "judge"),
        ({"scoring": "2"}, "scorer code"),
        ({"scorers": "2"}, "scorer code"),
        ({"judges": "2", "scorers": "2"}, "judge or scorer code"),
    ],
)
def test_what_changed_between_an_answer_and_its_score_is_named(scoring: dict[str, str], called: str) -> None:
    found = seen(cell(scoring=scoring), judge="fair")
    assert (found.scoring, found.on_record) == (called, frozenset({called}))
    assert seen(cell(scoring=scoring)).scoring == called


def test_another_model_behind_the_same_name_is_on_record() -> None:
    before, after = [who(answered_by="large")], [who(answered_by="small")]
    assert seen(cell(), before=before, after=after).on_record == {"served model"}
    # Who asks another model gets another's answers.
    asked = seen(cell({"model": "2"}), before=before, after=after)
    assert (asked.answers, asked.on_record) == (("model",), frozenset({"model"}))


def test_another_model_behind_the_name_of_a_judge_is_the_judge() -> None:
    before, after = [who("fair", answered_by="large")], [who("fair", answered_by="small")]
    found = seen(cell(), before=before, after=after, judge="fair")
    assert found == Changed("judge", False, ("served model",), frozenset({"judge"}))
    assert seen(cell(), before=before, after=after).on_record == frozenset()


def test_several_parts_stand_in_one_order() -> None:
    found = seen(cell({"model": "2", "system": "2", "benchmark": "2"}, {"judges": "2"}), judge="fair")
    assert found.parts == ("judge", "model", "code", "data")
    assert found.on_record == {"judge", "model", "code", "data"}
    assert seen(cell()).parts == ("served model",)


def test_what_tells_the_parts_apart_is_crossed_the_cheapest_first() -> None:
    whole = Changed("judge", True, ("model", "code"), frozenset())
    assert list(whole.crossings()) == [
        ("old answers", {"judge"}),
        ("old judge", {"model", "code", "data"}),
        ("old cases", {"judge", "model", "code"}),
        ("old model", {"judge", "code", "data"}),
    ]


@pytest.mark.parametrize("answers", [("model",), ("code",), ("served model",), ("code", "served model")])
def test_a_change_that_nothing_stands_beside_is_not_crossed(answers: tuple[str, ...]) -> None:
    assert list(Changed(None, False, answers, frozenset()).crossings()) == []


def test_what_is_said_on_one_side_only_is_no_change() -> None:
    large, small, silent = who(answered_by="large"), who(answered_by="small"), who()
    assert served_changes([large], [small], ["reader"]) == [("reader", "answered_by", "large", "small")]
    assert served_changes([large], [silent], ["reader"]) == []
    assert served_changes([silent], [small], ["reader"]) == []
    assert served_changes([large, small], [small, large], ["reader"]) == [], "in another order"
    assert served_changes([large], [small], ["another"]) == []


def test_each_model_is_told_once_with_all_that_changed() -> None:
    before = [who(answered_by="a", fingerprint="f1"), who(answered_by="b", fingerprint="f1")]
    after = [who(answered_by="b", fingerprint="f2"), who(answered_by="c", fingerprint="f2")]
    assert served_changes(before, after, ["reader", "reader"]) == [
        ("reader", "answered_by", "a, b", "b, c"),
        ("reader", "fingerprint", "f1", "f2"),
    ]


def test_a_change_is_told_with_the_first_time_a_newcomer_answered() -> None:
    before = [who(answered_by="a", service_tier="flex")]
    after = [who(answered_by=name, service_tier="fast") for name in ("a", "b", "c")]
    # 02:14 and 05:00 UTC on one day, and the old one before both.
    first = {("reader", "a"): 0.0, ("reader", "b"): 18_000.0, ("reader", "c"): 8_040.0, ("other", "fast"): 60.0}
    assert served_sentences(before, after, ["reader"], first) == [
        "reader: served model changed from a to a, b, c at 02:14 UTC",
        "reader: service tier changed from flex to fast",
    ]
    assert served_sentences(before, before, ["reader"], first) == []
