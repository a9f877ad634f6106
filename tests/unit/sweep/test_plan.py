"""What a plan hands to its cells."""

from __future__ import annotations

from pathlib import Path

from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

CONFIG = """\
name: two
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - {suite: toy, models: [reader], benchmarks: [{name: sums, n: 4}], systems: [{name: guess, label: one}]}
  - {suite: toy, models: [reader], benchmarks: [{name: sums, n: 9}], systems: [{name: guess, label: two}]}
"""


def test_experiments_that_name_the_same_benchmark_keep_their_own_options_of_it(tmp_path: Path) -> None:
    config = tmp_path / "two.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    plan = make_plan(*load_config(config))
    assert {cell.label: len(plan.benchmark(cell).test) for cell in plan.cells} == {"one": 4, "two": 9}
    # Asked again, in another order.
    assert [len(plan.benchmark(cell).test) for cell in reversed(plan.cells)] == [9, 4]


def test_what_every_system_understands_is_kept_and_a_rule_makes_other_cells(tmp_path: Path) -> None:
    config = tmp_path / "two.yaml"
    rule = "normalise: [{pattern: '[0-9]+', with: N}], seed_changes_system: true"
    config.write_text(CONFIG.replace("label: two", f"label: two, {rule}"), encoding="utf-8")
    plan = make_plan(*load_config(config))
    one, two = (plan.resolve(cell) for cell in plan.cells)
    assert (one.normalise, one.seed_changes_system) == ((), False)
    assert ([rule.replace for rule in two.normalise], two.seed_changes_system) == (["N"], True)
    config.write_text(CONFIG.replace("label: two", f"label: two, {rule.replace('N', 'M')}"), encoding="utf-8")
    again = make_plan(*load_config(config))
    assert [a.id == b.id for a, b in zip(plan.cells, again.cells, strict=True)] == [True, False]
