"""What is put together of old and new to tell apart what moved a figure, and what of it is paid for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from seedbed.analysis.score_table import ScoreTable
from seedbed.errors import BudgetReached, CellFailed
from seedbed.nightly.baseline import Entry
from seedbed.nightly.culprit import (
    Judging,
    _as_they_were,  # type: ignore[attr-defined]
    _Crossed,  # type: ignore[attr-defined]
    _old_cell,  # type: ignore[attr-defined]
    _Purse,  # type: ignore[attr-defined]
    _some,  # type: ignore[attr-defined]
)
from seedbed.nightly.kept import Kept, kept_of
from seedbed.phases.context import SweepRun
from seedbed.phases.crossing import Exchanged
from seedbed.storage.store import Store, write_jsonl
from seedbed.suite import Answer, Case, Metric, ScoreRow
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import load_config
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.plan import make_plan

CONFIG = """\
name: crossed
seeds: [0, 1]
plugins: [tests.support.contest_suite]
models: {reader: {model: offline/reader}, fair: {model: offline/fair}}
roles: {judge: fair}
experiments:
  - {suite: contest, models: [reader], benchmarks: [{name: claims, limit: 40}], systems: [{name: say, label: a}]}
"""
OLD = {"reader": ModelConfig(model="offline/was-reader"), "fair": ModelConfig(model="offline/was-fair")}


class Night:
    """A night whose system scored 0 where it scored 1 before; a crossing scores what it is told to."""

    def __init__(self, folder: Path) -> None:
        config = folder / "crossed.yaml"
        config.write_text(CONFIG, encoding="utf-8")
        store = Store(folder / "out")
        plan = replace(make_plan(*load_config(config)), generation=3)
        self.run = SweepRun(store.sweep_dir("crossed", "20260101T000000-aaaa"), plan, store, replay=False)
        self.cells = plan.cells
        self.cases = plan.benchmark(plan.cells[0]).test
        self.old_cases: list[Case] = list(self.cases)
        self.usage: dict[str, dict[str, Any]] = {
            "generate": {"calls": 40, "list_usd": 1.0},
            "score": {"calls": 40, "list_usd": 0.5},
        }
        self.purse = _Purse(100.0)
        self.asked: list[tuple[Cell, Exchanged]] = []
        self.scored = 1.0
        self.fails: Exception | None = None
        for cell in plan.cells:
            rows = [asdict(Answer(case.sample_id, {"answer": "new"})) for case in self.cases]
            write_jsonl(store.cell_dir(cell) / "predictions.jsonl", rows)

    def rows(self, cell: Cell, exchanged: Exchanged) -> list[ScoreRow]:
        self.asked.append((cell, exchanged))
        if self.fails is not None:
            raise self.fails
        return [ScoreRow(case.sample_id, "ok", {"fine": self.scored}) for case in exchanged.cases]

    def kept(self, *old: Cell) -> Kept:
        answers = {case.sample_id: Answer(case.sample_id, {"answer": "old"}) for case in self.old_cases}
        roles = {cell.folder: {"task": "reader", "judge": "fair"} for cell in old}
        cases = {case.sample_id: case for case in self.old_cases}
        return Kept({cell.folder: cell for cell in old}, OLD, roles, lambda _: answers, lambda _: cases)

    def entry(self, value: float, metrics: Sequence[Metric] = (Metric("fine", "Fine", kind="rate"),)) -> Entry:
        n = len(self.cases)
        values = {"a": np.full((n, len(metrics)), value)}
        seeds = {"a": {cell.seed: {"usage": self.usage} for cell in self.cells}}
        ids, clusters = [case.sample_id for case in self.cases], np.arange(n, dtype=np.int64) // 2
        key = ("contest", "claims", "reader")
        table = ScoreTable(key, "a", metrics, frozenset(), ids, clusters, values, seeds, {"a": self.cells}, [], {})
        return Entry(table, {}, {})

    def crossed(self, *old: Cell) -> _Crossed:
        judging = Judging(self.entry(1.0), self.entry(0.0), "a", ["fine"])
        return _Crossed(cast("Any", self), self.kept(*old), judging, self.purse)

    def effects(self, *old: Cell) -> dict[str, float]:
        """By part, what it did to the figure, which fell by 1."""
        ((_, _, metric, found),) = self.crossed(*old).figures()
        assert (metric, found.total.difference, found.total.n) == ("fine", -1.0, 40)
        return {" or ".join(effect.parts): effect.difference for effect in found.effects}

    def was(self, answers: Mapping[str, str] | None = None, scoring: Mapping[str, str] | None = None) -> list[Cell]:
        """The cells of the baseline, with these parts other than tonight's."""
        return [
            replace(cell, answers={**cell.answers, **(answers or {})}, scoring={**cell.scoring, **(scoring or {})})
            for cell in self.cells
        ]


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path)


def ids(cases: Sequence[Case]) -> list[str]:
    return [case.sample_id for case in cases]


# -- what is crossed ---------------------------------------------------------------------------------------------------


def test_old_answers_are_scored_as_tonight(night: Night) -> None:
    assert night.effects(*night.was(scoring={"scoring": "was"})) == {"scorer code": 0.0, "served model": -1.0}
    assert [cell for cell, _ in night.asked] == list(night.cells), "the code of then is gone: nothing else is crossed"
    for _, exchanged in night.asked:
        assert ids(exchanged.cases) == ids(night.cases)
        assert exchanged.answers is not None
        assert {answer.output["answer"] for answer in exchanged.answers.values() if isinstance(answer, Answer)} == {
            "old"
        }
        assert (exchanged.models, exchanged.since) == ({}, 3)


def test_cases_without_an_old_answer_are_not_asked(night: Night) -> None:
    kept = night.kept(*night.was(scoring={"scoring": "was"}))
    few = {"test0001": Answer("test0001", {"answer": "old"})}
    judging = Judging(night.entry(1.0), night.entry(0.0), "a", ["fine"])
    _Crossed(cast("Any", night), replace(kept, read_answers=lambda _: few), judging, night.purse).figures()
    assert {tuple(ids(exchanged.cases)) for _, exchanged in night.asked} == {("test0001",)}


def test_tonights_answers_are_judged_by_the_judge_of_then(night: Night) -> None:
    night.scored = 0.25
    assert night.effects(*night.was(scoring={"judges": "was"})) == {"judge": -0.5, "served model": -0.5}
    assert len(night.asked) == 4
    _, judged = night.asked[-1]
    assert judged.answers is not None
    assert judged.answers == kept_of(night.run).read_answers(night.cells[1])
    assert judged.models == {"judge": ("fair@baseline", OLD["fair"])}
    assert judged.since == 0, "what the judge once said of an equal answer is reused"


@pytest.mark.parametrize("part", ["scoring", "scorers", "repeats"])
def test_a_judge_of_then_is_not_asked_by_other_code(night: Night, part: str) -> None:
    night.crossed(*night.was(scoring={"judges": "was", part: "was"})).figures()
    assert len(night.asked) == 2, "old answers alone"


def test_a_judge_that_is_as_it_was_is_not_asked_again(night: Night) -> None:
    night.crossed(*night.was()).figures()
    assert {exchanged.answers is not None for _, exchanged in night.asked} == {True}
    assert len(night.asked) == 2


def test_tonights_code_is_asked_with_the_model_of_then(night: Night) -> None:
    night.scored = 0.25
    night.crossed(*night.was({"model": "was", "system": "was"})).figures()
    _, exchanged = night.asked[-1]
    assert exchanged.models == {"task": ("reader@baseline", OLD["reader"])}
    assert (exchanged.answers, exchanged.since) == (None, 3)
    assert ids(exchanged.cases) == ids(night.cases)


def test_only_cases_that_changed_are_asked_again_and_with_tonights_answer_where_the_gold_alone_did(
    night: Night,
) -> None:
    gold, asked, gone = night.cases[3], night.cases[7], replace(night.cases[0], sample_id="gone")
    night.old_cases[3] = replace(gold, gold="no")
    night.old_cases[7] = replace(asked, inputs={"question": "Is it odd?"})
    night.old_cases.append(gone)
    crossed = night.crossed(*night.was({"benchmark": "was"}))
    ((_, what, _, found),) = crossed.figures()
    assert what.data
    (first, second) = (exchanged for _, exchanged in night.asked if ids(exchanged.cases) == ["test0003", "test0007"])
    assert first.cases == second.cases == [night.old_cases[3], night.old_cases[7]]
    assert first.answers == {"test0003": Answer("test0003", {"answer": "new"})}
    assert first.since == 3
    # On 2 of 40 samples the old cases give 1 where tonight's give 0.
    effects = {" or ".join(effect.parts): effect.difference for effect in found.effects}
    assert effects["data"] == pytest.approx(-2 / 40)


def test_data_that_is_as_it_was_costs_nothing_to_cross(night: Night) -> None:
    night.crossed(*night.was({"benchmark": "was"})).figures()
    assert not any(exchanged.models for _, exchanged in night.asked)
    assert len(night.asked) == 2, "the old answers, judged again"


def test_a_system_of_which_the_baseline_lacks_a_seed_is_not_explained(night: Night) -> None:
    for old in (night.was()[:1], []):
        night.purse.notes.clear()
        assert night.crossed(*old).figures() == []
        assert night.purse.notes == ["claims · a: the baseline keeps no answers of it"]
    assert night.asked == []


def test_a_figure_that_no_sample_has_in_all_crossings_is_not_told_apart(night: Night) -> None:
    night.scored = float("nan")
    assert night.crossed(*night.was(scoring={"scoring": "was"})).figures() == []


def test_a_night_of_one_seed_is_told_apart_as_well(night: Night) -> None:
    night.cells = night.cells[:1]
    night.old_cases[3] = replace(night.cases[3], gold="no")
    night.crossed(*night.was({"benchmark": "was"})).figures()
    assert [ids(exchanged.cases) for _, exchanged in night.asked] == [ids(night.cases), ["test0003"]]


def test_a_judge_that_was_another_for_one_seed_is_asked(night: Night) -> None:
    first, second = night.was(scoring={"judges": "was"})
    night.crossed(first, replace(second, scoring=night.cells[1].scoring)).figures()
    assert [len(exchanged.models) for _, exchanged in night.asked] == [0, 0, 1, 0]


def test_only_models_that_are_asked_for_as_they_were_can_answer_otherwise() -> None:
    same, other = ModelConfig(model="offline/same"), ModelConfig(model="offline/other")
    slower = same.model_copy(update={"retries": 9})
    now = {"a": same, "b": same, "c": same, "d": slower}
    assert _as_they_were(now, {"a": same, "b": other, "d": same, "e": same}) == ["a", "d"]


# -- what is paid for --------------------------------------------------------------------------------------------------


def test_the_purse_pays_the_share_it_has_and_is_empty_then() -> None:
    purse = _Purse(6.0)
    assert [purse.share("a", price) for price in (2.0, 4.0)] == [1.0, 1.0], "to the last cent"
    assert (purse.left_usd, purse.share("b", 0.0)) == (0.0, 1.0)
    short = _Purse(3.0)
    assert (short.share("a", 4.0), short.left_usd) == (0.75, 0.0)
    assert short.notes == []


def test_what_has_no_price_is_not_crossed_and_said() -> None:
    purse = _Purse(6.0)
    assert (purse.share("old answers", None), purse.left_usd) == (0.0, 6.0)
    assert purse.notes == ["old answers: not crossed, since the price of its calls is unknown"]


WHAT = "old answers with tonight's scorer code"
TOO_FEW = "too few to cross; `gate.explain` or --max-usd raises it"


@pytest.mark.parametrize(
    ("usd", "asked", "note"),
    [
        (1.0, 40, None),
        # Two seeds at half a dollar each for scoring: 30 of 40 samples for three quarters.
        (0.75, 30, f"{WHAT}: the cap pays for 30 of 40 samples"),
        (0.74, 0, f"{WHAT}: the cap pays for 29 of 40 samples, {TOO_FEW}"),
        (0.0, 0, f"{WHAT}: the cap pays for 0 of 40 samples, {TOO_FEW}"),
    ],
)
def test_a_crossing_is_cut_short_by_the_cap_and_not_begun_below_thirty_samples(
    night: Night, usd: float, asked: int, note: str | None
) -> None:
    night.purse = _Purse(usd)
    night.crossed(*night.was(scoring={"scoring": "was"})).figures()
    assert night.purse.notes == ([] if note is None else [note])
    assert bool(night.asked) is bool(asked)
    if asked:
        share = asked / 40
        assert {tuple(ids(exchanged.cases)) for _, exchanged in night.asked} == {
            tuple(ids([case for case in night.cases if drawn(case.cluster or "") < share]))
        }


def test_fewer_samples_than_thirty_are_crossed_if_all_are_paid_for(night: Night) -> None:
    night.cases = night.cases[:20]
    night.purse = _Purse(1.0)
    night.crossed(*night.was(scoring={"scoring": "was"})).figures()
    assert len(night.asked) == 2
    night.purse = _Purse(0.99)
    night.crossed(*night.was(scoring={"scoring": "was"})).figures()
    assert len(night.asked) == 2


def test_a_crossing_without_calls_is_free(night: Night) -> None:
    night.purse = _Purse(0.0)
    night.usage["score"] = {"calls": 0, "list_usd": None}
    night.crossed(*night.was(scoring={"scoring": "was"})).figures()
    assert (len(night.asked), night.purse.notes) == (2, [])


def test_calls_that_nobody_counted_are_not_free(night: Night) -> None:
    night.usage["score"] = {"calls": None, "list_usd": None}
    night.crossed(*night.was(scoring={"scoring": "was"})).figures()
    assert night.asked == []
    assert night.purse.notes == [f"{WHAT}: not crossed, since the price of its calls is unknown"]


@pytest.mark.parametrize(
    ("generate", "score", "asked", "told"),
    [
        ((40, 1.0), (0, 0.0), 2, "the cap pays for 0 of 40 samples"),
        ((0, 0.0), (None, None), 0, "not crossed, since the price of its calls is unknown"),
    ],
)
def test_a_crossing_is_free_only_if_none_of_its_phases_makes_calls(
    night: Night, generate: tuple[Any, Any], score: tuple[Any, Any], asked: int, told: str
) -> None:
    night.purse = _Purse(0.0)
    for phase, (calls, usd) in (("generate", generate), ("score", score)):
        night.usage[phase] = {"calls": calls, "list_usd": usd}
    night.crossed(*night.was({"model": "was", "system": "was"})).figures()
    assert len(night.asked) == asked
    assert night.purse.notes[-1].startswith(f"tonight's code with the old model: {told}")


def test_answers_and_scores_are_both_paid_for_where_a_model_is_exchanged(night: Night) -> None:
    night.purse = _Purse(1.0 + 3.0)
    night.crossed(*night.was({"model": "was", "system": "was"})).figures()
    # Old answers judged again, then tonight's code with the old model.
    assert (len(night.asked), night.purse.left_usd, night.purse.notes) == (4, 0.0, [])


def test_other_cases_cost_their_share(night: Night) -> None:
    for place in range(10):
        night.old_cases[place] = replace(night.cases[place], gold="no")
    night.purse = _Purse(1.0 + 3.0 / 4)
    night.crossed(*night.was({"benchmark": "was"})).figures()
    assert (night.purse.left_usd, night.purse.notes) == (0.0, [])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BudgetReached("the cap"), "not crossed, since the cap was reached"),
        (CellFailed("no answer"), "not crossed (no answer)"),
    ],
)
def test_a_crossing_that_cannot_be_made_is_said_and_left_out(night: Night, error: Exception, told: str) -> None:
    night.fails = error
    assert night.effects(*night.was(scoring={"scoring": "was"})) == {"scorer code or served model": -1.0}
    assert night.purse.notes == [f"{WHAT}: {told}"]
    assert len(night.asked) == 1


# -- which cell, which samples -----------------------------------------------------------------------------------------


def test_the_cell_of_the_baseline_is_that_of_the_same_names_or_the_only_one_under_another_models(night: Night) -> None:
    cell, later = night.cells
    here, there = replace(cell, id="here"), replace(cell, id="there", model="older")
    assert _old_cell(night.kept(there, here), cell) is here
    assert _old_cell(night.kept(there), cell) is there
    assert _old_cell(night.kept(there, replace(cell, model="oldest")), cell) is None
    assert _old_cell(night.kept(), cell) is None
    assert _old_cell(night.kept(later), cell) is None, "another seed"
    assert _old_cell(night.kept(replace(there, system="b")), cell) is None


def drawn(name: str) -> float:
    """Where a cluster lies between 0 and 1, the same each time."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64


def test_a_share_of_the_cases_keeps_clusters_whole_and_is_the_same_each_time() -> None:
    cases = [Case(f"s{n}", {}, cluster=f"c{n // 3}") for n in range(60)]
    assert _some(cases, 1.0) == cases
    chosen = _some(cases, 0.4)
    assert ids(chosen) == [case.sample_id for case in cases if drawn(str(case.cluster)) < 0.4]
    assert 0 < len(chosen) < 60
    assert len(chosen) == 3 * len({case.cluster for case in chosen})
    assert _some(cases, 0.0) == []


def test_a_case_without_a_cluster_is_drawn_by_itself_and_one_at_the_share_is_left() -> None:
    cases = [Case(f"s{n}", {}) for n in range(40)]
    share = drawn("s7")
    assert ids(_some(cases, share)) == [f"s{n}" for n in range(40) if drawn(f"s{n}") < share]
    assert "s7" not in ids(_some(cases, share))
