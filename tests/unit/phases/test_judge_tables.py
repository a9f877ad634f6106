"""Labels beside what judges gave, as the check of a judge takes them: from answers and scores written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.judge_check import LabelledTable
from seedbed.analysis.label_draw import own_number
from seedbed.analysis.score_table import ScoreTable
from seedbed.phases.judge_checks import JudgeChecks
from seedbed.phases.judged_answers import JudgedAnswer, drawn_seed, judged_answers, judged_metrics, shown_output
from seedbed.phases.labels import answer_hash, append_label, labels_path, read_labels
from seedbed.phases.score_tables import score_tables
from seedbed.storage.appended import append_row
from seedbed.storage.store import read_json, write_json
from seedbed.suite import NO_OR_YES, Judged, Metric, ScoreRow
from seedbed.suites.kit.outcomes import UNREADABLE
from tests.support.stored import Stored, stored

CONFIG = """\
name: judges
seeds: {seeds}
plugins: [tests.support.judged]
models: {{reader: {{model: offline/reader}}}}
experiments:
  - suite: judged
    models: [reader]
    benchmarks: [{{name: words, n: 8}}]
    systems:
      - {{name: talk, label: harsh, kind: 3.0}}
      - {{name: talk, label: gentle, kind: 3.3{more}}}
"""
KEY = ("judged", "words", "reader", "kindness")
SALT = "salt"


def sweep(folder: Path, seeds: str = "[0]", more: str = "") -> Stored:
    return stored(folder, CONFIG.format(seeds=seeds, more=more))


def put(
    made: Stored, label: str, answers: Sequence[str | None], scores: Sequence[float | None], seed: int = 0,
    **details: Mapping[str, Any],
) -> None:  # fmt: skip
    """Answers to the first samples and what the judge gave them."""
    cell = made.cell(label, seed)
    ids = [f"w{number:04d}" for number in range(len(answers))]
    made.answered(
        cell, [{"sample_id": s, "output": {"answer": a}} for s, a in zip(ids, answers, strict=True) if a is not None]
    )
    rows = [ScoreRow(s, "ok", {"kindness": score}, details.get(s, {})) for s, score in zip(ids, scores, strict=True)]
    made.scored(cell, rows)
    made.figures(cell, {}, {})
    path = made.store.group_dir(cell.group) / "metrics.json"
    held = read_json(path) if path.exists() else {"metrics": {}, "scores": {}}
    metrics, keys = {**held["metrics"], label: {}}, {**held["scores"], label: cell.key("score")}
    write_json(path, {"metrics": metrics, "scores": keys, "generation": 0})


def table(made: Stored) -> ScoreTable:
    (only,) = score_tables(made.store, made.plan)
    return only


def kindness(**more: Any) -> Metric:
    return Metric("kindness", "Kindness", range=(1.0, 5.0), judged=Judged("?", NO_OR_YES, ("answer",), **more))


# -- answers -----------------------------------------------------------------------------------------------------------


def test_answers_with_a_score_are_listed_by_seed(tmp_path: Path) -> None:
    made = sweep(tmp_path, "[1, 0]")
    put(made, "harsh", ["a", "b", None], [3.0, None, 1.0], seed=0)
    put(made, "harsh", ["c", "d", "e"], [4.0, 5.0, 2.0], seed=1, w0001={UNREADABLE: "no field"})
    found = judged_answers(made.store, made.plan, table(made), kindness(), "harsh")
    told = {sample: [(one.seed, one.score, one.shown, one.certain) for one in own] for sample, own in found.items()}
    assert told == {
        "w0000": [(0, 3.0, {"answer": "a"}, False), (1, 4.0, {"answer": "c"}, False)],
        "w0001": [(1, 5.0, {"answer": "d"}, True)],
        "w0002": [(0, 1.0, {}, True), (1, 2.0, {"answer": "e"}, False)],
    }
    assert found["w0000"][0].answer == answer_hash({"answer": "a"})
    assert len(found["w0000"][0].answer) == 16
    assert [one.other for own in found.values() for one in own] == [None] * 5


def test_of_pairs_both_answers_are_shown_and_equal_ones_are_nobodys_word(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    put(made, "harsh", ["a", "b", None], [3.0, 3.0, 3.0])
    put(made, "gentle", ["a", "c", "d"], [0.5, 1.0, 1.0])
    found = judged_answers(made.store, made.plan, table(made), kindness(pairs=True), "gentle")
    same, apart, alone = (own[0] for own in found.values())
    assert (same.shown, same.other, same.certain) == ({"answer": "a"}, {"answer": "a"}, True)
    assert (apart.shown, apart.other, apart.certain) == ({"answer": "c"}, {"answer": "b"}, False)
    assert (alone.shown, alone.other, alone.certain) == ({"answer": "d"}, None, False)
    assert apart.answer == answer_hash([{"answer": "c"}, {"answer": "b"}])
    (first, *_) = judged_answers(made.store, made.plan, table(made), kindness(pairs=True), "harsh").values()
    assert first[0].other is None, "the baseline is held against nothing"


@pytest.mark.parametrize(
    ("details", "doubt"),
    [
        ({"votes": [[1.0, "cold"], [3.0, "warm"]]}, 0.25),
        ({"votes": [[1.0, "cold"], [1.0, "cold"], [5.0, "warm"], [5.0, "warm"]]}, 0.5),
        ({"kindness": {"votes": [[2.0, "cold"], [2.0, "cool"]]}}, 0.0),
        ({"votes": [[1.0, "cold"]]}, None),
        ({"votes": "many"}, None),
        ({"kindness": "why", "other": 1}, None),
        ({}, None),
    ],
)
def test_a_judge_is_in_doubt_as_its_votes_lie_apart(
    tmp_path: Path, details: dict[str, Any], doubt: float | None
) -> None:
    made = sweep(tmp_path)
    put(made, "harsh", ["a"], [3.0], w0000=details)
    (own,) = judged_answers(made.store, made.plan, table(made), kindness(votes="votes"), "harsh").values()
    assert own[0].doubt == doubt
    (silent,) = judged_answers(made.store, made.plan, table(made), kindness(), "harsh").values()
    assert silent[0].doubt is None, "no votes are declared"


def test_each_seed_of_a_sample_has_its_own_draw() -> None:
    each = [JudgedAnswer(seed, 1.0, "", certain=False, doubt=None, shown={}) for seed in range(5)]
    for sample in ("a", "b", "c"):
        first = min(range(5), key=lambda seed: own_number(SALT, f"{sample}\0seed {seed}"))
        assert drawn_seed(SALT, sample, each).seed == first


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        (("turns.said", "gone"), {"turns": [{"said": "hi"}, {"said": None}, {}]}),
        (("turns",), {"turns": [{"said": "hi", "memory": 1}, {"heard": "ho"}, "bye"]}),
        (("answer.text", "turns.heard", "turns.said"), {
            "answer": "yes",
            "turns": [{"heard": None, "said": "hi"}, {"heard": "ho", "said": None}, {"heard": None, "said": None}],
        }),
    ],
)  # fmt: skip
def test_a_dot_leads_into_members_that_are_mappings(named: tuple[str, ...], shown: dict[str, Any]) -> None:
    output = {"answer": "yes", "none": None, "turns": [{"said": "hi", "memory": 1}, {"heard": "ho"}, "bye"]}
    found = shown_output(output, Judged("?", NO_OR_YES, named))
    if named == ("turns.said", "gone"):
        shown = {"turns": [{"said": "hi"}, {"said": None}, {"said": None}]}
    assert found == shown


def test_metrics_that_a_model_judges_here_are_those_of_samples(tmp_path: Path) -> None:
    from dataclasses import replace

    made = sweep(tmp_path)
    put(made, "harsh", ["a"], [3.0])
    own = table(made)
    by_nobody = Metric("plain", "Plain")
    pooled = replace(kindness(), name="pooled", kind="pooled")
    elsewhere = replace(kindness(benchmarks=("others",)), name="elsewhere")
    here = replace(kindness(benchmarks=("words",)), name="here")
    declared = (by_nobody, pooled, elsewhere, here, kindness())
    found = judged_metrics(made.plan, replace(own, declared=declared))
    assert [metric.name for metric in found] == ["here", "kindness"]


# -- labels beside them ------------------------------------------------------------------------------------------------


def draw(made: Stored, key: tuple[str, ...] = KEY, **sizes: float) -> None:
    names = dict(zip(("suite", "benchmark", "model", "metric"), key, strict=True))
    append_row(labels_path(made.store, "judges"), {"kind": "draw", **names, "salt": SALT, "sizes": sizes, "at": ""})


def label(made: Stored, sample: str, answer: str, value: float | None, rater: str = "ann", **facts: str) -> None:
    append_label(
        labels_path(made.store, "judges"), KEY, rater=rater, sample_id=sample, systems=[], seed=0,
        answer=answer_hash({"answer": answer}), value=value, facts=facts,
    )  # fmt: skip


def checks(made: Stored) -> JudgeChecks:
    found = JudgeChecks(made.store, made.plan, read_labels(labels_path(made.store, "judges")))
    found.watch(table(made))
    return found


def labelled(made: Stored) -> LabelledTable:
    (only,) = checks(made).tables
    return only


def numbers(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


@pytest.fixture
def made(tmp_path: Path) -> Stored:
    own = sweep(tmp_path)
    put(own, "harsh", ["h0", "h1", "h2", "h3", None], [3.0, 2.0, 1.0, 4.0, 1.0], w0003={UNREADABLE: "no field"})
    put(own, "gentle", ["g0", "h1", "g2", "g3"], [5.0, 4.0, None, 3.0])
    draw(own, w0000=2.0)
    return own


def test_nothing_is_checked_without_a_draw_and_labels_of_it(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    put(made, "harsh", ["h0"], [3.0])
    assert checks(made).tables == []
    draw(made)
    assert checks(made).tables == []
    append_label(labels_path(made.store, "judges"), ("judged", "others", "reader", "kindness"), rater="ann",
                 sample_id="w0000", systems=[], seed=0, answer="x", value=1.0, facts={})  # fmt: skip
    assert checks(made).tables == [], "labels of another benchmark are none of this one"
    label(made, "w0000", "h0", 3.0)
    assert len(checks(made).tables) == 1


def test_a_label_counts_for_every_system_that_gave_the_answer(made: Stored) -> None:
    label(made, "w0000", "h0", 2.0)
    label(made, "w0001", "h1", 1.0)
    label(made, "w0002", "h2", None)
    found = labelled(made)
    harsh, gentle = found.systems
    assert (harsh.label, gentle.label) == ("harsh", "gentle")
    assert numbers(harsh.labels) == [2.0, 1.0, None, 4.0, 1.0], "what a rule scored needs no label"
    assert numbers(harsh.judged) == [3.0, 2.0, 1.0, 4.0, 1.0]
    assert harsh.settled.tolist() == [True, True, True, True, True], "passed over is settled too"
    assert harsh.certain.tolist() == [False, False, False, True, True]
    assert harsh.by_rule.tolist() == [False, False, False, True, True]
    assert numbers(gentle.labels) == [None, 1.0, None, None, None]
    assert numbers(gentle.judged) == [5.0, 4.0, None, 3.0, None]
    assert gentle.settled.tolist() == [False, True, True, False, True], "without a score there is nothing to look at"
    assert gentle.by_rule.tolist() == [False] * 5
    assert numbers(gentle.everywhere)[:4] == [5.0, 4.0, None, 3.0]
    assert harsh.answers[1] == gentle.answers[1] == answer_hash({"answer": "h1"})
    assert gentle.answers[2] == ""
    assert found.n_skipped == 1
    assert found.by_rater == {"ann": {(0, answer_hash({"answer": "h0"})): 2.0, (1, answer_hash({"answer": "h1"})): 1.0}}
    assert found.sizes.tolist() == [2.0, 1.0, 1.0, 1.0, 1.0]
    assert found.numbers.tolist() == [own_number(SALT, f"w000{n}") for n in range(5)]
    assert found.seeds == {}


def test_a_system_that_nobody_looked_at_is_not_among_those_labelled(made: Stored) -> None:
    label(made, "w0000", "h0", 2.0)
    label(made, "w0000", "an answer of before", 1.0)
    label(made, "w0000", "an answer of before", None, "bob")
    found = labelled(made)
    assert [system.label for system in found.systems] == ["harsh"]
    assert found.n_skipped == 0, "what is no answer any more is not counted"
    assert found.by_rater["bob"] == {}


def test_facts_make_slices_if_they_have_from_two_to_twelve_values(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    put(made, "harsh", [f"h{n}" for n in range(8)], [3.0] * 8)
    draw(made)
    for n in range(8):
        label(made, f"w000{n}", f"h{n}", 2.0, lang=("zh", "en")[n % 2], suite="one", number=str(n))
    assert labelled(made).facts == [{"lang": ("zh", "en")[n % 2], "number": str(n)} for n in range(8)]
    from seedbed.phases.judge_checks import _few_valued  # pyright: ignore[reportPrivateUsage]

    for values, kept in ((12, True), (13, False), (1, False)):
        found = _few_valued([{"id": str(n)} for n in range(values)])
        assert bool(found[0]) is kept


def test_of_seeds_that_make_another_system_the_spread_of_the_difference_is_known(tmp_path: Path) -> None:
    made = sweep(tmp_path, "[0, 1]", ", seed_changes_system: true")
    for seed, harsh, gentle in ((0, 3.0, [4.0, 5.0, 3.0]), (1, 4.0, [3.0, 4.0, 2.0])):
        put(made, "harsh", ["a", "b", "c"], [harsh] * 3, seed=seed)
        put(made, "gentle", ["d", "e", "f"], gentle, seed=seed)
    draw(made)
    label(made, "w0000", "d", 4.0)
    # Differences from the baseline are 1 and -1 on average: their variance is 2, and that of their mean 1.
    spread = labelled(made).seeds["gentle"]
    assert spread is not None
    assert spread == (pytest.approx(1.0), 1.0)
    assert list(labelled(made).seeds) == ["gentle"]


def test_one_seed_says_nothing_of_the_spread(tmp_path: Path) -> None:
    made = sweep(tmp_path, "[0]", ", seed_changes_system: true")
    put(made, "harsh", ["a", "b"], [3.0, 3.0])
    put(made, "gentle", ["d", "e"], [4.0, 5.0])
    draw(made)
    label(made, "w0000", "d", 4.0)
    assert labelled(made).seeds == {"gentle": None}
