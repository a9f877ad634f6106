"""The contests of a sweep and what their cells scored, side by side: whose sample stands where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from seedbed.errors import CellFailed
from seedbed.phases.contest_values import Pair, made_by_seed, pairs_of, read_pair
from seedbed.phases.crossing import values_of_rows
from seedbed.phases.generate import _refuse_too_many  # type: ignore[attr-defined]
from seedbed.storage.store import Store, write_jsonl
from seedbed.suite import ScoreRow
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan

CONFIG = """\
name: contests
seeds: [0, 1]
plugins: [tests.support.contest_suite]
models: {{reader: {{model: offline/reader}}, other: {{model: offline/other}}}}
roles: {{judge: reader}}
max_error_share: 0.25
experiments:
  - suite: contest
    models: [reader, other]
    benchmarks: [claims]
    systems: [{{name: say, label: a}}, {{name: say, label: b, skill: 0.5}}]
    optimizers: [Baseline{optimizer}]
    {more}
"""


def planned(folder: Path, optimizer: str = "", more: str = "") -> Plan:
    config = folder / "contests.yaml"
    config.write_text(CONFIG.format(optimizer=optimizer, more=more), encoding="utf-8")
    return make_plan(*load_config(config))


def named(pairs: list[Pair]) -> list[str]:
    return [pair.title for pair in pairs]


def test_every_other_system_of_a_table_meets_the_first(tmp_path: Path) -> None:
    pairs = list(pairs_of(planned(tmp_path, ", BootstrapFewShot")))
    assert named(pairs) == [
        f"claims · {model} · {label} against a"
        for model in ("reader", "other")
        for label in ("a+BootstrapFewShot", "b", "b+BootstrapFewShot")
    ]
    first = pairs[1]
    assert first.names == {"benchmark": "claims", "model": "reader", "label": "b", "baseline": "a"}
    assert [(cell.label, cell.model, cell.seed) for cell in first.cells] == [
        ("b", "reader", 0), ("b", "reader", 1), ("a", "reader", 0), ("a", "reader", 1),
    ]  # fmt: skip
    assert first.reference is False


def test_another_baseline_can_be_chosen(tmp_path: Path) -> None:
    assert named(list(pairs_of(planned(tmp_path, more="baseline: b")))) == [
        "claims · reader · a against b",
        "claims · other · a against b",
    ]


def test_a_seed_makes_another_system_of_what_is_optimised(tmp_path: Path) -> None:
    plan = planned(tmp_path, ", BootstrapFewShot")
    assert [made_by_seed(plan, pair) for pair in pairs_of(plan)][:3] == [True, False, True]
    other = planned(tmp_path, ", BootstrapFewShot", "baseline: a+BootstrapFewShot")
    assert {made_by_seed(other, pair) for pair in pairs_of(other)} == {True}


def scored(store: Store, cell: Cell, scores: Mapping[str, float | None], **clusters: str) -> None:
    rows = [
        {"sample_id": sample, "status": "ok", "scores": {"fine": score}, "details": {}, "reason": None,
         "cluster": clusters.get(sample)}
        for sample, score in scores.items()
    ]  # fmt: skip
    write_jsonl(store.cell_dir(cell) / "scores.jsonl", rows)


def test_both_sides_are_read_by_sample_and_seed(tmp_path: Path) -> None:
    plan, store = planned(tmp_path), Store(tmp_path / "out")
    pair = next(pairs_of(plan))
    (own0, own1), (base0, base1) = pair.own, pair.base
    scored(store, own0, {"s1": 1.0, "s2": 0.0}, s1="c1", s2="c1")
    scored(store, own1, {"s2": 0.5, "s1": None})
    scored(store, base0, {"s3": 0.25, "s1": 0.75}, s3="c3", s1="c1")
    scored(store, base1, {})
    ours, theirs, clusters = read_pair(store, pair, "fine")
    np.testing.assert_array_equal(ours, [[1.0, np.nan], [0.0, 0.5], [np.nan, np.nan]])
    np.testing.assert_array_equal(theirs, [[0.75, np.nan], [np.nan, np.nan], [0.25, np.nan]])
    assert len(clusters) == 3
    assert clusters[2] == "c3"
    few = read_pair(store, pair, "fine", ["s3", "s4"])
    np.testing.assert_array_equal(few[0], [[np.nan, np.nan]] * 2)
    np.testing.assert_array_equal(few[1], [[0.25, np.nan], [np.nan, np.nan]])
    assert few[2] == ["c3", "s4"], "a sample that nobody has is a cluster of its own"


def test_the_scores_of_crossed_rows_are_the_mean_of_their_seeds() -> None:
    def row(sample: str, status: Any = "ok", **scores: float | None) -> ScoreRow:
        return ScoreRow(sample, status, scores)

    first = [row("a", fine=1.0, rank=4.0), row("b", fine=0.0, rank=None), row("elsewhere", fine=9.0)]
    second = [row("a", fine=0.0), row("b", "error", fine=1.0), row("c", "skipped", fine=1.0)]
    found = values_of_rows([first, second], ["a", "b", "c"], ["fine", "rank"])
    np.testing.assert_array_equal(found, [[0.5, 4.0], [0.0, np.nan], [np.nan, np.nan]])
    assert values_of_rows([[], []], ["a"], ["fine"]).shape == (1, 1)


# -- how many failures are too many ------------------------------------------------------------------------------------


def refuse(plan: Plan, total: int, errors: int, others: int = 0) -> None:
    context = SimpleNamespace(run=SimpleNamespace(plan=plan), cell=plan.cells[0])
    kinds = ["server"] * errors + ["auth"] * others
    told: list[Any] = [{"kind": kind, "message": f"{kind} says no."} for kind in kinds]
    _refuse_too_many(cast("Any", context), total, told)


def test_the_share_of_failures_that_is_allowed_passes_and_one_more_does_not(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    refuse(plan, 160, 0)
    refuse(plan, 160, 40)
    said = (
        r"^a · claims · reader · seed 0: 41 of 160 samples failed, more than max_error_share 0\.25; 40 with server: "
        r"server says no\. All answers are in "
    )
    with pytest.raises(CellFailed, match=said):
        refuse(plan, 160, 40, 1)
    with pytest.raises(CellFailed, match="21 with auth: auth says no"):
        refuse(plan, 160, 20, 21)


def test_a_few_failures_at_an_early_look_say_nothing_of_their_share(tmp_path: Path) -> None:
    plan = planned(tmp_path, more="decide: {looks: 4, difference: 0.3}")
    refuse(plan, 10, 4)
    with pytest.raises(CellFailed, match="5 of 10 samples failed"):
        refuse(plan, 10, 5)
    closed = planned(tmp_path)
    with pytest.raises(CellFailed, match="4 of 10 samples failed"):
        refuse(closed, 10, 4)


def test_at_the_last_look_the_share_counts_however_few_failed(tmp_path: Path) -> None:
    config = tmp_path / "contests.yaml"
    planned(tmp_path, more="decide: {looks: 4, difference: 0.5}")
    text = config.read_text(encoding="utf-8").replace("max_error_share: 0.25", "max_error_share: 0.0")
    config.write_text(text, encoding="utf-8")
    plan = make_plan(*load_config(config))
    refuse(plan, 159, 1)
    with pytest.raises(CellFailed, match="1 of 160 samples failed"):
        refuse(plan, 160, 1)
