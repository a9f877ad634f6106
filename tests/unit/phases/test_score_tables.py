"""Scores of a sweep's cells as one table a metric can be compared in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.phases.context import open_run
from seedbed.phases.score_tables import CellScores, read_scores, score_tables
from seedbed.phases.scorers import ERRORS
from seedbed.suites.kit.outcomes import TRUNCATED, UNREADABLE


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
