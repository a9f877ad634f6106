"""Scores of a sweep's cells as one table a metric can be compared in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seedbed.phases.context import open_run
from seedbed.phases.score_tables import score_tables


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
