"""Which examples a search chose by, and how far their scores lay apart, from logs that can be added by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.choice_notes import choice_notes
from seedbed.storage.store import Done, Store, write_jsonl
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan

CONFIG = """\
name: search
seeds: [0, 1]
plugins: [tests.support.contest_suite]
models: {{reader: {{model: offline/reader}}}}
roles: {{judge: reader}}
experiments:
  - suite: contest
    models: [reader]
    benchmarks: [claims]
    systems: [{{name: say, label: a}}]
    optimizers: [Baseline, {optimizer}]
"""
Log = Mapping[int, Sequence[float]]
"""By candidate, what it scored on each example in turn."""


class Searches:
    def __init__(self, folder: Path, optimizer: str) -> None:
        config = folder / "search.yaml"
        config.write_text(CONFIG.format(optimizer=optimizer), encoding="utf-8")
        self.store = Store(folder / "out")
        self.plan: Plan = replace(make_plan(*load_config(config)), generation=1)

    def finish(self, seed: int, generation: int = 1, **logs: Log) -> None:
        """The search of a seed with its logs, one a split."""
        (cell,) = (cell for cell in self.plan.cells if cell.optimised and cell.seed == seed)
        folder = self.store.claim_folder(cell)
        for split, log in {"train": {}, "val": {}, **logs}.items():
            rows = [row(candidate, place, score) for candidate, own in log.items() for place, score in enumerate(own)]
            write_jsonl(folder / f"metric_logs/{split}.jsonl", rows)
        self.store.mark_done(cell, "optimise", Done(cell.key("optimise"), generation, {}, [], {}))

    @property
    def notes(self) -> list[str]:
        return choice_notes(self.store, self.plan)


def row(candidate: int, example: int, score: float) -> dict[str, Any]:
    return {"candidate": candidate, "sample_id": f"e{example}", "score": score}


COPRO = "{name: COPRO, breadth: 2, depth: 1}"


@pytest.fixture
def copro(tmp_path: Path) -> Searches:
    return Searches(tmp_path, COPRO)


def test_all_seeds_of_a_system_are_one_sentence_by_the_spread_of_all(copro: Searches) -> None:
    # Differences from the program as it was written: 1, 0, 1, 0 (variance 1/3), and half of each (1/12).
    copro.finish(0, train={1: [1, 0, 1, 0], 0: [0, 0, 0, 0]})
    copro.finish(1, train={0: [0.5] * 4, 2: [1, 0.5, 1, 0.5]})
    (note,) = copro.notes
    assert note.startswith("claims · reader · a+COPRO: candidates of COPRO are chosen by 4 train examples, ")
    # The root of (1/3 + 1/12) / 2.
    assert "spread 0.46 as seen" in note


def test_a_seed_whose_candidates_all_scored_alike_shows_no_spread(copro: Searches) -> None:
    copro.finish(0, train={0: [0, 0, 0, 0], 1: [1, 0, 1, 0]})
    copro.finish(1, train={0: [1, 1, 1, 1], 1: [1, 1, 1, 1]})
    assert "spread 0.58 as seen" in copro.notes[0]


def test_where_nothing_shows_a_spread_one_is_assumed(copro: Searches) -> None:
    copro.finish(0, train={0: [1, 1, 1, 1]})
    assert "chosen by 4 train examples" in copro.notes[0]
    assert copro.notes[0].partition("spread ")[2].partition(")")[0].endswith(" assumed")


def test_an_example_that_was_scored_twice_has_the_mean(copro: Searches) -> None:
    copro.finish(0, train={0: [0, 0, 0, 0], 1: [1, 0, 1, 0]})
    (cell,) = (cell for cell in copro.plan.cells if cell.optimised and cell.seed == 0)
    path = copro.store.cell_dir(cell) / "metric_logs/train.jsonl"
    write_jsonl(path, [row(0, 0, 0.0), row(0, 1, 0.0), row(1, 0, 1.0), row(1, 0, 0.5), row(1, 0, 0.0), row(1, 1, 0.0)])
    # 0.5 and 0: a variance of 1/8.
    assert "chosen by 2 train examples" in copro.notes[0]
    assert "spread 0.35 as seen" in copro.notes[0]


def test_the_most_examples_that_any_candidate_had_are_told(copro: Searches) -> None:
    copro.finish(0, train={0: [0, 0, 0, 0], 1: [1, 0]})
    copro.finish(1, train={0: [0, 0, 0]})
    assert "chosen by 4 train examples" in copro.notes[0]


@pytest.mark.parametrize(
    ("optimizer", "logs", "told"),
    [
        ("{name: SIMBA, steps: 1, candidates: 2}", {"train": {0: [0]}, "val": {1: [0]}}, "1 train and val example,"),
        ("GEPA-2", {"train": {0: [0] * 9}, "val": {0: [0, 1]}}, "2 val examples,"),
    ],
)
def test_each_search_chooses_by_its_own_splits(tmp_path: Path, optimizer: str, logs: Any, told: str) -> None:
    searches = Searches(tmp_path, optimizer)
    searches.finish(0, **logs)
    (note,) = searches.notes
    assert f"are chosen by {told}" in note


def test_enough_examples_need_no_word(copro: Searches) -> None:
    copro.finish(0, train={0: [0] * 3000, 1: [1, *[0] * 2999]})
    assert copro.notes == []


def test_a_search_that_was_not_made_or_scored_nothing_is_not_told_of(copro: Searches, tmp_path: Path) -> None:
    assert copro.notes == []
    copro.finish(0, generation=0, train={0: [0, 0]})
    assert copro.notes == [], "of before a fresh start"
    copro.finish(0, train={})
    assert copro.notes == []


def test_a_search_that_chooses_by_no_examples_is_not_told_of(tmp_path: Path) -> None:
    searches = Searches(tmp_path, "BootstrapFewShot")
    searches.finish(0, train={0: [0, 0]})
    assert searches.notes == []
