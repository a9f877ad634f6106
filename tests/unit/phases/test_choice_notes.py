"""The summary says which searches had too few examples to choose by."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.phases.choice_notes import choice_notes
from seedbed.storage.store import Store
from tests.support.cells import prepared

CONFIG = """\
name: search
seeds: [0, 1]
models: {m: {model: offline/m}}
experiments:
  - suite: prompt_optimization
    models: [m]
    benchmarks: [{name: AIMEBench, repeats: 1}]
    systems: [CoT]
    optimizers: [Baseline, BootstrapFewShot, {name: COPRO, breadth: 2, depth: 1}]
"""


@pytest.mark.slow
def test_a_search_that_chose_by_few_examples_is_named_by_the_spread_it_showed(tmp_path: Path) -> None:
    (tmp_path / "search.yaml").write_text(CONFIG, encoding="utf-8")
    ready = prepared(tmp_path / "search.yaml", tmp_path / "out")
    assert choice_notes(Store(ready.root), ready.plan) == [], "nothing has been searched"
    for cell in ready.plan.cells:
        if cell.optimised:
            ready.phase(cell, "optimise")
    (note,) = choice_notes(Store(ready.root), ready.plan)
    assert note.startswith("AIMEBench · m · CoT+COPRO: candidates of COPRO are chosen by 18 train examples")
    assert "as seen" in note
