"""Scores of a sweep's cells as one table a metric can be compared in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.score_table import ScoreTable
from seedbed.errors import UserError
from seedbed.phases.context import open_run
from seedbed.phases.score_tables import CellScores, group_metrics, read_scores, score_tables, table_score_rows
from seedbed.phases.scorers import ERRORS
from seedbed.storage.store import write_json
from seedbed.suite import ScoreRow
from seedbed.suites.kit.outcomes import TRUNCATED, UNREADABLE
from tests.support.stored import Stored, stored


def test_seeds_are_averaged_before_samples_are_counted(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    (table,) = score_tables(run.store, run.plan)
    cell = {c.seed: c for c in table.cells["middle"]}
    scores = {
        seed: {
            row["sample_id"]: row["scores"].get("digits")
            for row in map(json.loads, (run.store.cell_dir(c) / "scores.jsonl").read_text().splitlines())
        }
        for seed, c in cell.items()
    }
    for place, sample in enumerate(table.sample_ids):
        known = [scores[seed][sample] for seed in scores if scores[seed][sample] is not None]
        if known:
            assert table.values["middle"][place, 0] == pytest.approx(sum(known) / len(known))


def row(sample: str, status: str = "ok", reason: str | None = None, **more: Any) -> dict[str, Any]:
    blank = {"sample_id": sample, "status": status, "reason": reason, "scores": {}, "cluster": None, "details": {}}
    return {**blank, **more}


def scores(folder: Path, *rows: dict[str, Any], metrics: tuple[str, ...] = ("f1", "em")) -> CellScores:
    path = folder / "scores.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read_scores(path, metrics)


def test_a_score_is_missing_where_something_failed_and_undefined_where_nothing_did(tmp_path: Path) -> None:
    found = scores(
        tmp_path,
        row("a", scores={"f1": 1.0, "em": 0.5}, cluster="c"),
        row("b", scores={"f1": 0.5, "em": None}),
        row("c", "error", "why"),
        row("d", "ok", "no judge", scores={"f1": 0.5}),
        row("e", "skipped", "not asked"),
    )
    np.testing.assert_array_equal(found.values, [[1, 0.5], [0.5, np.nan], [np.nan] * 2, [0.5, np.nan], [np.nan] * 2])
    assert found.missing.tolist() == [[False] * 2, [False] * 2, [True] * 2, [False, True], [False] * 2]
    assert (found.sample_ids, found.clusters) == (list("abcde"), ["c", "b", "c", "d", "e"])
    assert found.flaws == [("c", "error", "why"), ("d", "error", "no judge"), ("e", "skipped", "not asked")]
    nothing = scores(tmp_path)
    assert (nothing.values.shape, nothing.missing.shape) == ((0, 2), (0, 2))


def test_the_worst_flaw_of_a_sample_is_told(tmp_path: Path) -> None:
    failed = {"judge": {"kind": "timeout", "message": "slow"}}
    found = scores(
        tmp_path,
        row("a", details={UNREADABLE: "no field", TRUNCATED: 1, ERRORS: failed}),
        row("b", details={UNREADABLE: "no field"}),
        row("c", details={ERRORS: failed, TRUNCATED: 1}),
        row("d", details={TRUNCATED: 2}),
        row("e"),
    )
    assert found.flaws == [
        ("a", UNREADABLE, "no field (cut off at max_tokens)"),
        ("b", UNREADABLE, "no field"),
        ("c", "scorer failed", "judge: timeout: slow"),
        ("d", TRUNCATED, "answers cut off at max_tokens: 2"),
    ]
    assert found.cut == ["a", "c", "d"]


CONFIG = """\
name: toys
seeds: [0, 1]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, n: 4}]
    baseline: third
    systems:
      - {name: guess, label: weak, skill: 0.1}
      - {name: guess, label: made, skill: 0.2, seed_changes_system: true}
      - {name: guess, label: third, skill: 0.3}
"""


def put(own: Stored, label: str, seed: int, *rows: ScoreRow, generation: int = 0, key: str = "") -> None:
    """A cell's scores, and its figures in those of its group."""
    cell = own.cell(label, seed)
    own.scored(cell, rows)
    own.figures(cell, {}, {"generate": {"calls": len(rows)}})
    path = own.store.group_dir(cell.group) / "metrics.json"
    held = json.loads(path.read_text()) if path.exists() else {"metrics": {}, "scores": {}}
    metrics = {**held["metrics"], label: {"n": len(rows)}}
    scores = {**held["scores"], label: key or cell.key("score")}
    write_json(path, {"metrics": metrics, "scores": scores, "generation": generation})


def right(sample: str, value: float | None, cluster: str | None = None, **more: Any) -> ScoreRow:
    return ScoreRow(sample, "ok", {"digits": 0.5, "right": value}, cluster=cluster, **more)


def error(sample: str, reason: str = "timeout: slow") -> ScoreRow:
    return ScoreRow(sample, "error", reason=reason)


def table(own: Stored, baseline: str | None = None) -> ScoreTable:
    (only,) = score_tables(own.store, own.plan, baseline)
    return only


def rights(own: ScoreTable, of: Mapping[str, Any], label: str) -> list[Any]:
    """The second column, None for nan."""
    column: Sequence[float] = of[label][:, own.metrics.index("right")].tolist()
    return [None if value != value else value for value in column]


def test_a_table_has_the_samples_of_all_its_cells_each_the_mean_of_its_seeds(tmp_path: Path) -> None:
    own = stored(tmp_path, CONFIG)
    put(own, "weak", 0, right("a", 1.0, "y"), right("b", 0.0, "x"))
    put(own, "weak", 1, right("b", 1.0, "x"), right("c", 1.0))
    put(own, "third", 0, right("a", None, "y"), right("b", 0.0, "x"), error("c"))
    put(own, "third", 1, right("a", 1.0, "y"), error("b"), error("c"))
    found = table(own)
    assert (found.key, found.baseline, found.made_by_seed) == (("toy", "sums", "reader"), "third", frozenset())
    assert (found.sample_ids, found.clusters.tolist()) == (["a", "b", "c"], [2, 1, 0])
    assert rights(found, found.values, "weak") == [1.0, 0.5, 1.0]
    assert rights(found, found.values, "third") == [1.0, 0.0, None]
    assert list(found.missing) == ["third"]
    assert rights(found, found.missing, "third") == [0.0, 0.5, 1.0], "what is undefined is not missing"
    assert {label: [cell.seed for cell in cells] for label, cells in found.cells.items()} == {
        "weak": [0, 1],
        "third": [0, 1],
    }
    assert found.seeds["weak"] == {seed: {"n": 2, "usage": {"generate": {"calls": 2}}} for seed in (0, 1)}
    assert found.by_seed == {}
    rows = table_score_rows(own.store, found)
    assert set(rows) == {(0, "weak"), (1, "weak"), (0, "third"), (1, "third")}
    assert rows[1, "weak"][1] == right("c", 1.0)


def test_seeds_are_kept_apart_of_what_they_make_anew_and_of_what_it_is_held_against(tmp_path: Path) -> None:
    own = stored(tmp_path, CONFIG)
    for label in ("weak", "made", "third"):
        put(own, label, 0, right("a", 1.0), right("b", 0.0))
        put(own, label, 1, right("b", 1.0), right("c", 0.0))
    found = table(own)
    assert found.made_by_seed == {"made"}
    assert sorted(found.by_seed) == ["made", "third"]
    for label in ("made", "third"):
        assert rights(found, {label: found.by_seed[label][0]}, label) == [1.0, 0.0, None]
        assert rights(found, {label: found.by_seed[label][1]}, label) == [None, 1.0, 0.0]


def test_systems_are_held_against_the_one_that_is_asked_for(tmp_path: Path) -> None:
    own = stored(tmp_path, CONFIG)
    put(own, "made", 0, right("a", 1.0))
    put(own, "weak", 0, right("a", 1.0))
    assert table(own).baseline == "weak", "the first that is there, where the one of the config is not"
    assert table(own, "made").baseline == "made"
    assert list(table(own).values) == ["weak", "made"], "in the order of the config"
    with pytest.raises(UserError, match=r"--baseline 'weka' is no system of this sweep; known: made, third, weak\."):
        table(own, "weka")


def test_a_sweep_of_one_cell_has_a_table(tmp_path: Path) -> None:
    config = CONFIG[: CONFIG.index("      - {name: guess, label: made")].replace("[0, 1]", "[0]")
    own = stored(tmp_path, config.replace("    baseline: third\n", ""))
    assert list(score_tables(own.store, own.plan)) == []
    put(own, "weak", 0, error("a"), right("b", 1.0))
    assert rights(table(own), table(own).missing, "weak") == [1.0, 0.0]
    put(own, "weak", 0)
    assert (table(own).baseline, table(own).values["weak"].shape) == ("weak", (0, 3))


def test_failures_are_all_counted_and_the_first_200_shown(tmp_path: Path) -> None:
    own = stored(tmp_path, CONFIG)
    long = "x" * 81
    put(own, "weak", 0, *(error(f"e{i:03}") for i in range(150)), right("t", 1.0, details={TRUNCATED: 1}))
    put(own, "third", 0, *(error(f"e{i:03}", long) for i in range(60)), error("z", ""))
    found = table(own)
    assert len(found.failures) == 200
    cell, *told = found.failures[0]
    assert (cell.label, *told) == ("weak", "e000", "error", "timeout: slow")
    assert found.failures[-1][1] == "e048"
    assert found.failure_counts == {
        ("weak", "error", "timeout"): 150,
        ("weak", TRUNCATED, "answers cut off at max_tokens"): 1,
        ("third", "error", "x" * 80): 60,
        ("third", "error", "no reason given"): 1,
    }


def test_the_first_answer_that_was_cut_off_is_named(tmp_path: Path) -> None:
    own = stored(tmp_path, CONFIG)
    put(own, "weak", 0, right("a", 1.0))
    assert table(own).first_cut is None
    put(own, "made", 0, right("b", 1.0, details={TRUNCATED: 1}), right("c", 1.0, details={TRUNCATED: 2}))
    put(own, "third", 0, right("d", 1.0, details={TRUNCATED: 1}))
    cut = table(own).first_cut
    assert cut is not None
    assert (cut[0].label, cut[1]) == ("made", "b")


def test_only_figures_of_current_scores_count(tmp_path: Path) -> None:
    own = stored(tmp_path, CONFIG)
    group, cells = next(iter(own.plan.groups().items()))
    assert group_metrics(own.store, own.plan, group, cells) == {}
    put(own, "weak", 0, right("a", 1.0))
    put(own, "made", 0, right("a", 1.0), key="of an earlier config")
    assert group_metrics(own.store, own.plan, group, cells) == {"weak": {"n": 1}}
    put(own, "third", 0, right("a", 1.0), generation=-1)
    assert group_metrics(own.store, own.plan, group, cells) == {}, "of before a fresh start"
