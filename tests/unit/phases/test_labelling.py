"""The work of a rater on answers that are written by hand: which comes next, what is shown of it, where marks go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seedbed.analysis.label_draw import own_number
from seedbed.errors import UserError
from seedbed.phases.context import SweepRun
from seedbed.phases.judged_answers import JudgedAnswer
from seedbed.phases.labelling import Item, Labelling, _fields, _text  # pyright: ignore[reportPrivateUsage]
from seedbed.phases.labels import append_label, begin_draw, labels_path, read_labels
from seedbed.storage.appended import append_row
from seedbed.storage.store import write_json
from seedbed.suite import Case, Judged, ScoreRow
from seedbed.suites.kit.outcomes import UNREADABLE
from tests.support.stored import Stored, stored

CONFIG = """\
name: judges
seeds: [0]
plugins: [tests.support.judged]
models: {reader: {model: offline/reader}}
experiments:
  - suite: judged
    models: [reader]
    benchmarks: [{name: words, n: 4}, {name: words, label: more, n: 2}]
    systems:
      - {name: talk, label: harsh, kind: 3.0}
      - {name: talk, label: gentle, kind: 3.3}
"""
KEY = ("judged", "words", "reader", "kindness")
SALT = "salt"
Answers = Mapping[str, str | None]


def put(made: Stored, label: str, answers: Answers, benchmark: str = "words", **details: Mapping[str, Any]) -> None:
    """Answers of a system, each of which the judge gave 3 of 5; None for one that failed."""
    cell = made.cell(label, 0, benchmark)
    given = {sample: text for sample, text in answers.items() if text is not None}
    made.answered(cell, [{"sample_id": sample, "output": {"answer": text}} for sample, text in given.items()])
    rows = [
        ScoreRow(sample, "ok", {"kindness": 3.0}, details.get(sample, {}))
        if sample in given
        else ScoreRow(sample, "error")
        for sample in answers
    ]
    made.scored(cell, rows)
    made.figures(cell, {}, {})
    path = made.store.group_dir(cell.group) / "metrics.json"
    labels = [other for other in ("harsh", "gentle") if (made.folder(made.cell(other, 0, benchmark)) / "done").exists()]
    keys = {other: made.cell(other, 0, benchmark).key("score") for other in labels}
    write_json(path, {"metrics": {other: {} for other in labels}, "scores": keys, "generation": 0})


def draw(made: Stored, **sizes: float) -> None:
    names = dict(zip(("suite", "benchmark", "model", "metric"), KEY, strict=True))
    append_row(labels_path(made.store, "judges"), {"kind": "draw", **names, "salt": SALT, "sizes": sizes, "at": ""})


def work(made: Stored, rater: str = "ann", **more: Any) -> Labelling:
    return Labelling(SweepRun(made.store.root, made.plan, made.store, replay=False), "kindness", rater, **more)


def texts(found: Labelling) -> list[str]:
    return [item.answer.shown["answer"] for item in found.items]


@pytest.fixture
def made(tmp_path: Path) -> Stored:
    """Two systems that say the same of the first sample; one says nothing of the last."""
    own = stored(tmp_path, CONFIG)
    put(own, "harsh", {"w0000": "same", "w0001": "h1", "w0002": "h2", "w0003": "h3"})
    put(own, "gentle", {"w0000": "same", "w0001": "g1", "w0002": "g2", "w0003": None})
    return own


def test_samples_come_in_the_order_of_the_draw_with_their_distinct_answers(made: Stored) -> None:
    sizes = {"w0000": 0.5, "w0001": 2.0, "w0002": 1.0}
    draw(made, **sizes)
    found = work(made)
    expected = sorted((f"w000{n}" for n in range(4)), key=lambda s: own_number(SALT, s) / sizes.get(s, 1.0))
    assert list(dict.fromkeys(item.case.sample_id for item in found.items)) == expected
    assert sorted(texts(found)) == ["g1", "g2", "h1", "h2", "h3", "same"]
    (same,) = [item for item in found.items if item.case.sample_id == "w0000"]
    assert (same.systems, same.key, same.swapped) == (["harsh", "gentle"], KEY, False)
    own = [item for item in found.items if item.case.sample_id == "w0001"]
    by_hash = sorted(own, key=lambda item: own_number(SALT, f"w0001\0{item.answer.answer}"))
    assert own == by_hash, "whichever system gave it"


def test_answers_of_one_system_are_asked_for_by_its_name(made: Stored) -> None:
    draw(made)
    found = work(made, systems=["gentle"])
    assert sorted(texts(found)) == ["g1", "g2", "same"]
    assert {name for item in found.items for name in item.systems} == {"gentle"}
    with pytest.raises(UserError, match="--system 'gentel': is none of this sweep; did you mean 'gentle'"):
        work(made, systems=["harsh", "gentel"])


def test_a_system_without_an_answer_keeps_nobody_from_the_others(made: Stored) -> None:
    draw(made)
    put(made, "gentle", dict.fromkeys(("w0000", "w0001"), None))
    assert sorted(texts(work(made))) == ["h1", "h2", "h3", "same"]


def test_what_a_rule_scored_is_shown_to_nobody(made: Stored) -> None:
    draw(made)
    put(made, "harsh", {"w0000": "same", "w0001": "h1"}, w0000={UNREADABLE: "no field"}, w0001={UNREADABLE: "no field"})
    assert sorted(texts(work(made))) == ["g1", "g2", "same"], "what is said of gentle's answers is a judge's word"


def test_benchmarks_take_turns(made: Stored) -> None:
    put(made, "harsh", {"w0000": "m0", "w0001": "m1"}, "more")
    found = work(made, systems=["harsh"])
    assert [item.key[1] for item in found.items] == ["words", "more", "words", "more", "words", "words"]
    assert {item.key[1] for item in work(made, benchmark="more").items} == {"more"}
    with pytest.raises(
        UserError, match=r"--metric 'kindness': no model judges it in the benchmark 'none'; did you mean"
    ):
        work(made, benchmark="none")


def test_the_first_look_begins_a_draw_and_later_ones_keep_it(made: Stored) -> None:
    first = texts(work(made))
    begun = read_labels(labels_path(made.store, "judges")).draws
    assert list(begun) == [KEY]
    assert begun[KEY].sizes == {f"w000{n}": 1.0 for n in range(4)}
    assert texts(work(made)) == first
    assert read_labels(labels_path(made.store, "judges")).draws == begun


def test_what_nobody_judged_is_refused(tmp_path: Path) -> None:
    made = stored(tmp_path, CONFIG)
    with pytest.raises(UserError, match=r"no model judges it; this sweep has no metric that a model judges\."):
        work(made)
    put(made, "harsh", {"w0000": None})
    with pytest.raises(UserError, match="the judge has scored no answer of words; name a model for the role judge"):
        work(made)
    with pytest.raises(UserError, match=r"--metric 'kindnes': no model judges it; did you mean 'kindness'"):
        Labelling(SweepRun(made.store.root, made.plan, made.store, replay=False), "kindnes", "ann")


def test_cases_that_cannot_be_read_are_told(made: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.phases.labelling.cases_of", lambda *_: {})
    with pytest.raises(UserError, match="words: its cases cannot be read here, so there is nothing to show a rater"):
        work(made)


# -- a page ------------------------------------------------------------------------------------------------------------


def test_a_page_is_the_first_item_without_a_mark_or_the_one_asked_for(made: Stored) -> None:
    draw(made)
    found = work(made)
    first = found.page(None)
    assert {name: first[name] for name in ("at", "done", "total", "metric", "rater", "given")} == {
        "at": 0, "done": 0, "total": 6, "metric": "kindness", "rater": "ann", "given": None,
    }  # fmt: skip
    assert first["answers"] == [[["answer", texts(found)[0]]]]
    found.label(0, 4)
    found.label(1, None)
    found.label(3, 0)
    assert (found.page(None)["at"], found.page(None)["done"]) == (2, 3)
    assert [found.page(at)["given"] for at in range(4)] == [{"mark": 4}, {"mark": None}, None, {"mark": 0}]
    assert [found.given(at) for at in range(4)] == [(True, 5.0), (True, None), (False, None), (True, 1.0)]
    assert (found.page(-5)["at"], found.page(5)["at"]) == (0, 5)
    assert found.page(6) == {"at": 6, "done": 3, "total": 6, "metric": "kindness", "rater": "ann"}
    assert found.page(99) == found.page(6)
    for at in range(6):
        found.label(at, 2)
    assert found.page(None) == {**found.page(6), "done": 6}


def test_marks_are_kept_by_rater_with_what_the_answer_was(made: Stored) -> None:
    draw(made)
    found = work(made)
    place = next(at for at, item in enumerate(found.items) if item.case.sample_id == "w0000")
    found.label(place, 1)
    (row,) = read_labels(labels_path(made.store, "judges")).rows
    item = found.items[place]
    told = {"rater": "ann", "sample_id": "w0000", "systems": ["harsh", "gentle"], "seed": 0, "value": 2.0}
    assert {name: row[name] for name in told} == told
    assert (row["answer"], row["facts"]) == (item.answer.answer, {"half": "0"})
    assert work(made).given(place) == (True, 2.0)
    assert work(made, "bob").given(place) == (False, None)


# -- an item -----------------------------------------------------------------------------------------------------------


def item(judged: Judged, *, swapped: bool = False, other: Mapping[str, Any] | None = None, **case: Any) -> Item:
    answer = JudgedAnswer(0, 1.0, "hash", certain=False, doubt=None, shown={"my_answer": "yes"}, other=other)
    known: dict[str, Any] = {"inputs": {"question": "?", "number": 7}, "gold": "gold", **case}
    return Item(KEY, judged, Case("w", **known), answer, ["harsh"], swapped)


ORDERS = ((0.0, "second"), (0.25, "rather second"), (1.0, "first"))


def test_of_a_pair_either_answer_may_come_first_and_marks_are_turned_with_it() -> None:
    judged = Judged("Which?", ORDERS, pairs=True)
    straight, turned = (item(judged, swapped=swapped, other={"my_answer": "no"}) for swapped in (False, True))
    assert straight.shown()["answers"] == [[["my answer", "yes"]], [["my answer", "no"]]]
    assert turned.shown()["answers"] == [[["my answer", "no"]], [["my answer", "yes"]]]
    assert straight.shown()["marks"] == ["second", "rather second", "first"]
    assert [straight.value(mark) for mark in (0, 1, None)] == [0.0, 0.25, None]
    assert [turned.value(mark) for mark in (0, 1, None)] == [1.0, 0.75, None]


def test_of_a_case_the_inputs_that_are_named_are_shown_or_all() -> None:
    assert item(Judged("How?", ORDERS, inputs=("number", "gone"))).shown()["asked"] == [["number", "7"]]
    assert item(Judged("How?", ORDERS)).shown()["asked"] == [["question", "?"], ["number", "7"]]
    assert item(Judged("How?", ORDERS, inputs=("gone",))).shown()["asked"] == [["question", "?"], ["number", "7"]]
    assert item(Judged("How?", ORDERS)).shown()["question"] == "How?"


@pytest.mark.parametrize(
    ("reference", "gold", "shown"), [(True, ["a", "b"], "1. a\n2. b"), (True, None, None), (False, "a", None)]
)
def test_the_right_answer_is_shown_where_there_is_one_and_it_may_be(
    reference: bool, gold: Any, shown: str | None
) -> None:
    assert item(Judged("How?", ORDERS, reference=reference), gold=gold).shown()["reference"] == shown


def test_facts_are_what_slices_can_be_made_of() -> None:
    meta = {"lang": "zh", "hard": True, "level": 3, "vector": [1, 2], "score": 0.5}
    assert item(Judged("How?", ORDERS), meta=meta).facts == {"lang": "zh", "hard": "True", "level": "3"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (7, "7"),
        ("x" * 20_000, "x" * 20_000),
        ("x" * 20_001, "x" * 20_000 + " […]"),
        (["a", "b"], "1. a\n2. b"),
        ({"first_name": "Ann", "empty": "", "none": None, "age": 0}, "first name: Ann\nage: 0"),
        ({"turns": [{"said": "hi", "to": ["x"]}, "bye"]},
         "turns: \n  1. \n    said: hi\n    to: \n      1. x\n  2. bye"),
        ([], ""),
    ],
)  # fmt: skip
def test_values_are_shown_as_a_person_reads_them(value: Any, text: str) -> None:
    assert _text(value) == text


def test_empty_fields_are_not_shown() -> None:
    assert _fields({"a_b": 1, "none": None, "empty": "", "zero": 0}) == [["a b", "1"], ["zero", "0"]]


# -- the file ----------------------------------------------------------------------------------------------------------


def label(path: Path, rater: str, value: float | None, sample: str = "w0000", answer: str = "x") -> None:
    facts: dict[str, str] = {"half": "0"}
    append_label(path, KEY, rater=rater, sample_id=sample, systems=["harsh"], seed=0, answer=answer, value=value,
                 facts=facts)  # fmt: skip


def test_a_mark_is_the_mean_of_those_who_could_tell(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    for rater, value in (("ann", 5.0), ("ann", 1.0), ("bob", 4.0), ("cat", None)):
        label(path, rater, value)
    label(path, "ann", None, "w0001")
    labels = read_labels(path)
    assert labels.mark(KEY, "w0000", "x") == (2.5, True), "a later mark takes the place of an earlier one"
    assert labels.mark(KEY, "w0001", "x") == (None, True)
    assert labels.mark(KEY, "w0000", "y") == (None, False)
    assert labels.mark((*KEY[:3], "other"), "w0000", "x") == (None, False)
    assert len(labels.rows) == 5
    assert labels.facts[KEY] == {"w0000": {"half": "0"}, "w0001": {"half": "0"}}


def test_the_first_draw_stands_and_sizes_have_six_digits(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    first = begin_draw(path, KEY, {"a": 1.23456789})
    begin_draw(path, KEY, {"a": 2.0})
    assert first.sizes == {"a": 1.23457}
    assert len(first.salt) == 32
    assert read_labels(path).draws == {KEY: first}


@pytest.mark.parametrize(("size", "fine"), [(0.0, False), (-1.0, False), (1e-6, True), (999_999.0, True), (1e6, False)])
def test_sizes_are_above_nothing_and_finite(tmp_path: Path, size: float, fine: bool) -> None:
    made = stored(tmp_path, CONFIG)
    draw(made, a=size)
    path = labels_path(made.store, "judges")
    if fine:
        assert read_labels(path).draws[KEY].sizes == {"a": size}
        return
    with pytest.raises(UserError, match=r"labels.jsonl:1: is no draw and no label; mend or remove the line"):
        read_labels(path)


def test_a_line_of_another_kind_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    label(path, "ann", 1.0)
    append_row(path, {"kind": "laber", **dict.fromkeys(("suite", "benchmark", "model", "metric"), "x")})
    with pytest.raises(UserError, match=r"labels.jsonl:2: "):
        read_labels(path)
    assert len(read_labels(path, path.read_bytes().index(b"\n") + 1).rows) == 1, "of what was there before"
    assert read_labels(tmp_path / "none.jsonl").rows == []
