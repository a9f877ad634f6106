"""A look at contests, from scores that are written by hand: what it reads, what it keeps, whom it asks further."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.looks import (
    Family,
    current_looks,
    families,
    look_at,
    look_files,
    look_key,
    looked,
    looks_note,
    open_cells,
    unfinished,
    with_looks,
)
from seedbed.storage.store import read_json, write_json
from seedbed.suite import ScoreRow
from tests.support.stored import Stored, stored

CONFIG = """\
name: grows
seeds: {seeds}
plugins: [tests.support.toy]
models: {{reader: {{model: offline/reader}}}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{{name: sums, n: {n}}}]
    systems: [{systems}]
    decide: {{metric: right, difference: 0.4, looks: 2}}
"""
MORE = """\
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, label: other, n: 4}]
    systems:
      - {name: guess, label: base, skill: 0.1}
      - {name: guess, label: two, skill: 0.2}
      - {name: guess, label: three, skill: 0.3}
"""
GROUP = ("toy", "right")


def sweep(folder: Path, *labels: str, n: int = 40, seeds: str = "[0]", more: str = "") -> Stored:
    systems = ", ".join(f"{{name: guess, label: {own}, skill: 0.{i + 1}}}" for i, own in enumerate(labels))
    return stored(folder, CONFIG.format(systems=systems, n=n, seeds=seeds) + more)


def answer(made: Stored, label: str, right: str, asked: int, seed: int = 0) -> None:
    """Scores of the first cases of the order: `right` is repeated over them, 1 for a right answer, 0 for a wrong."""
    cell = made.cell(label, seed)
    looks = made.plan.looks(cell)
    assert looks is not None
    cluster = {case.sample_id: case.cluster for case in made.plan.benchmark(cell).test}
    rows = [
        ScoreRow(sample, "ok", {"right": float(right[place % len(right)]), "digits": 0.0}, cluster=cluster[sample])
        for place, sample in enumerate(looks.sample_ids[:asked])
    ]
    made.scored(cell, rows, asked=asked)


def family(made: Stored) -> Family:
    (only,) = families(made.plan)
    return only


def look(made: Stored, number: int) -> dict[str, Any]:
    return look_at(made.store, made.plan, family(made), number)


def decisions(record: dict[str, Any]) -> dict[str, str]:
    return {entry["label"]: entry["decision"] for entry in record["contests"]}


def ids(made: Stored, *labels: str) -> set[str]:
    return {cell.id for cell in made.plan.cells if cell.label in labels}


def test_a_family_has_the_contests_of_one_metric_and_counts_the_tests_that_do_not_grow(tmp_path: Path) -> None:
    own = family(sweep(tmp_path, "base", "strong", more=MORE))
    assert [pair.label for pair in own.pairs] == ["strong"]
    assert (own.group, own.others, own.reference, own.metric.label) == (GROUP, 2, False, "Right_%")
    assert own.name == "toy_right"
    assert replace(own, reference=True).name == "toy_right_reference"


def test_a_look_sees_the_first_cases_of_the_order_and_decides(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", "same")
    answer(made, "base", "0010", 20)
    answer(made, "strong", "1", 40)
    answer(made, "same", "0010", 20)
    record = look(made, 1)
    assert (record["look"], record["looks"], record["alpha"], record["others"]) == (1, 2, 0.05, 0)
    assert (record["suite"], record["metric"], record["reference"]) == ("toy", "right", False)
    strong, same = record["contests"]
    assert (strong["label"], strong["baseline"], strong["asked"], strong["planned"]) == ("strong", "base", 20, 40)
    assert strong["ready"] is True
    (seen,) = strong["seen"]
    assert (seen["n"], seen["n_clusters"], seen["difference"]) == (20, 10, 0.75), "not what was asked beyond the look"
    # Ten clusters of two whose differences are 1 and 0.5 in turn: their spread is 0.25 around 0.75.
    assert seen["error"] == pytest.approx(0.25 / 3, rel=1e-9)
    assert 0 < strong["p"] < 0.05
    assert (same["seen"][0]["difference"], same["seen"][0]["error"], same["seen"][0]["z"]) == (0.0, None, None)
    assert same["p"] is None
    assert decisions(record) == {"strong": "better", "same": "go on"}


def test_the_next_look_goes_on_from_the_last_and_leaves_what_is_decided(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", "same")
    answer(made, "base", "0010", 40)
    answer(made, "strong", "1", 20)
    answer(made, "same", "0010", 40)
    record = look(made, 2)
    strong, same = record["contests"]
    assert (strong["asked"], len(strong["seen"]), strong["ready"]) == (20, 1, True)
    assert (same["asked"], len(same["seen"]), same["seen"][1]["n"]) == (40, 2, 40)
    assert decisions(record) == {"strong": "better", "same": "futile"}
    folder = made.store.looks_dir("grows")
    assert sorted(path.name for path in folder.iterdir()) == ["toy_right_01.json", "toy_right_02.json"]
    assert look_files(made.store, made.plan) == [folder / "toy_right_01.json", folder / "toy_right_02.json"]


def test_a_look_at_one_cluster_has_a_count_and_no_figures(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", n=4)
    answer(made, "base", "0", 2)
    answer(made, "strong", "1", 2)
    (entry,) = look(made, 1)["contests"]
    assert entry["seen"] == [{"n": 2, "n_clusters": 1, "difference": None, "error": None, "z": None}]
    assert (entry["p"], entry["decision"]) == (None, "go on")


def test_a_contest_that_the_rest_may_still_decide_goes_on(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "above", n=16)
    answer(made, "base", "0011", 8)
    answer(made, "above", "0111", 8)
    (entry,) = look(made, 1)["contests"]
    assert (entry["seen"][0]["difference"], entry["decision"]) == (0.25, "go on")
    assert entry["p"] > 0.05


def test_seeds_that_make_another_system_are_part_of_what_is_unsure(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", seeds="[0, 1]")
    for label, right in (("base", ("0010", "0001")), ("strong", ("1", "0111"))):
        for seed in (0, 1):
            answer(made, label, right[seed], 20, seed)
    (entry,) = look(made, 1)["contests"]
    assert entry["seen"][0]["difference"] == 0.625, "of the means over seeds"


def test_a_contest_without_the_scores_of_a_look_is_not_ready_and_not_decided(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", "late", "gone")
    answer(made, "base", "0010", 20)
    answer(made, "strong", "1", 20)
    answer(made, "late", "1", 19)
    record = look(made, 1)
    for entry in record["contests"][1:]:
        assert (entry["ready"], entry["seen"], entry["p"], entry["decision"]) == (False, [], None, "go on")
        assert (entry["asked"], entry["planned"]) == (20, 40)
    assert decisions(record)["strong"] == "better"
    found = looked(made.store, made.plan)
    assert [names[3] for names in found] == ["strong"], "what has seen nothing says nothing"
    own = found["toy", "sums", "reader", "strong", "base"]
    assert (own.metric, own.looks, own.decision, own.asked, own.planned) == ("right", 2, "better", 20, 40)


def test_what_is_on_record_stands_as_long_as_its_scores(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong")
    answer(made, "base", "0010", 20)
    answer(made, "strong", "1", 20)
    first = look(made, 1)
    path = made.store.looks_dir("grows") / "toy_right_01.json"
    told = {**read_json(path), "others": 7}
    write_json(path, {name: value for name, value in told.items() if name != "schema_version"})
    assert look(made, 1) == {**first, "others": 7}, "it is read, not made"
    assert current_looks(made.store, made.plan, family(made)) == [told]
    write_json(path, {**first, "key": "of other scores", "others": 7})
    assert current_looks(made.store, made.plan, family(made)) == []
    assert look(made, 1) == first
    assert read_json(path)["others"] == 0, "and written"


def test_a_look_depends_on_the_look_before_it_and_on_which_cells_are_ready(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong")
    own = family(made)
    alone = look_key(made.store, made.plan, own, 1, "")
    answer(made, "base", "0010", 20)
    assert look_key(made.store, made.plan, own, 1, "") == alone, "one side is not enough"
    answer(made, "strong", "1", 20)
    ready = look_key(made.store, made.plan, own, 1, "")
    others = {
        alone,
        look_key(made.store, made.plan, own, 1, "before"),
        look_key(made.store, made.plan, own, 2, ""),
        look_key(made.store, made.plan, replace(own, others=1), 1, ""),
    }
    assert ready not in others
    assert len(others) == 4


def test_only_cells_of_open_contests_are_asked_further(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", "same", "gone", n=80, more=MORE)
    grow = {cell.id for cell in made.plan.cells if cell.benchmark == "sums"}
    assert open_cells(made.store, made.plan, GROUP, 1) == grow
    assert open_cells(made.store, made.plan, ("toy", "digits"), 1) == set()
    assert list(made.store.root.rglob("*.json")) == [], "the first look needs none before it"
    answer(made, "base", "0010", 40)
    answer(made, "strong", "1", 40)
    answer(made, "same", "0010", 40)
    wanted = {cell.id for cell in made.plan.cells if cell.benchmark == "sums" and cell.label in ("base", "same")}
    assert open_cells(made.store, made.plan, GROUP, 2) == wanted, "neither what is decided nor what has failed"


def test_where_all_is_decided_nobody_is_asked(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong")
    answer(made, "base", "0010", 20)
    answer(made, "strong", "1", 20)
    assert open_cells(made.store, made.plan, GROUP, 2) == set()


def test_cells_are_unfinished_until_their_contest_has_ended(tmp_path: Path) -> None:
    made = sweep(tmp_path, "base", "strong", "same", "gone")
    assert unfinished(made.store, made.plan) == ids(made, "base", "strong", "same", "gone"), "no look was taken"
    answer(made, "base", "0010", 40)
    answer(made, "strong", "1", 20)
    answer(made, "same", "0010", 40)
    look(made, 1)
    assert unfinished(made.store, made.plan) == ids(made, "base", "same", "gone")
    assert len(current_looks(made.store, made.plan, family(made))) == 1
    look(made, 2)
    write_json(made.store.looks_dir("grows") / "toy_right_03.json", {"key": "of a config with three looks"})
    assert len(current_looks(made.store, made.plan, family(made))) == 2
    assert unfinished(made.store, made.plan) == set(), "no look comes after the last"


PAIRED = """\
name: grows
seeds: [0]
models: {m: {model: offline/writer}}
roles: {judge: m}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{name: capitals, path: cases.csv}]
    systems:
      - {name: prompt, label: plain, prompt: "{country}?"}
      - {name: prompt, label: terse, prompt: "{country}!"}
      - {name: prompt, label: third, prompt: "{country}."}
      - {name: prompt, label: fourth, prompt: "{country};"}
    scorers:
      - exact
      - {name: preference, label: better, preference: "Which is better?", against: third}
      - {name: preference, label: again, preference: "Which is worse?", against: fourth}
    decide: {metric: exact, difference: 0.4, looks: 2}
"""


def test_cells_that_an_open_one_compares_its_answers_with_are_asked_too(tmp_path: Path) -> None:
    cases = "country,answer\n" + "".join(f"c{n},C{n}\n" for n in range(40))
    (tmp_path / "cases.csv").write_text(cases, encoding="utf-8")
    made = stored(tmp_path, PAIRED)
    own = family(made)
    ended = {"third": "better", "fourth": "better"}
    entries = [{**pair.names, "decision": ended.get(pair.label, "go on"), "ready": True} for pair in own.pairs]
    path = made.store.looks_dir("grows") / f"{own.name}_01.json"
    write_json(path, {"key": look_key(made.store, made.plan, own, 1, ""), "looks": 2, "contests": entries})
    assert unfinished(made.store, made.plan) == ids(made, "plain", "terse")
    asked = open_cells(made.store, made.plan, own.group, 2)
    assert asked == ids(made, "plain", "terse", "third", "fourth")


def test_nothing_is_said_of_looks_where_none_was_taken() -> None:
    assert looks_note({}) == []
    assert with_looks([], {}) == []
