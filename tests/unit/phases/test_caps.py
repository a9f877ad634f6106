"""A config with both caps: each stops what it is for, says so, and goes on where it was when it is raised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed.errors import BudgetReached
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.prepare import prepare
from tests.support.cells import Prepared, prepared
from tests.support.lm import sums

CONFIG = """\
name: caps
seeds: [0, 1]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader, temperature: 0.7, max_tokens: 40}}
budget: {max_usd: 1.0, max_usd_per_cell: 0.0002}
experiments:
  - {suite: toy, models: [reader], benchmarks: [{name: sums, n: 16}], systems: [ask]}
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _ready(folder: Path, **budget: float) -> Prepared:
    config = folder / "caps.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    return prepared(config, folder / "out", [f"budget.{name}={value}" for name, value in budget.items()])


def _spent(folder: Path, ready: Prepared, seed: int) -> float:
    return sums(folder / "out", f"cell = '{ready.cell('Baseline', seed).id}'").spent_usd


def test_the_cap_of_a_cell_stops_it_though_the_sweep_has_money_left(tmp_path: Path) -> None:
    ready = _ready(tmp_path)
    for seed in (0, 1):
        with pytest.raises(BudgetReached, match=r"the cell past its \$0.0002"):
            ready.phase(ready.cell("Baseline", seed), "generate")
        assert 0 < _spent(tmp_path, ready, seed) <= 0.0002
    assert not ready.runtime().stopped.is_set()
    close_runtimes()
    larger = _ready(tmp_path, max_usd_per_cell=0.5)
    result = larger.phase(larger.cell("Baseline"), "generate")
    assert result["n_errors"] == 0
    assert result["usage"]["outcomes"]["reused"] > 0


def test_the_cap_of_the_sweep_stops_all_though_the_cells_have_money_left(tmp_path: Path) -> None:
    ready = _ready(tmp_path, max_usd=0.0002, max_usd_per_cell=0.5)
    with pytest.raises(BudgetReached, match=r"the sweep past \$0.0002"):
        ready.phase(ready.cell("Baseline"), "generate")
    assert ready.runtime().stopped.is_set()
    assert sums(tmp_path / "out").spent_usd <= 0.0002


def test_a_fresh_start_has_the_whole_of_both_caps_again(tmp_path: Path) -> None:
    ready = _ready(tmp_path)
    with pytest.raises(BudgetReached):
        ready.phase(ready.cell("Baseline"), "generate")
    before = _spent(tmp_path, ready, 0)
    close_runtimes()
    again = Prepared(ready.plan, str(prepare(ready.plan, tmp_path / "out", fresh=True)), tmp_path / "out")
    with pytest.raises(BudgetReached, match=r"the cell past its"):
        again.phase(again.cell("Baseline"), "generate")
    # As much as the first time, and not a cent of it stopped the second.
    assert _spent(tmp_path, ready, 0) > 1.5 * before
