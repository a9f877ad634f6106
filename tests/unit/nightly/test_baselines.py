"""An accepted run in its file: what is written is read back, and only a run whose scores are there is accepted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.errors import UserError
from seedbed.nightly import baseline
from seedbed.nightly.baseline import (
    Baseline,
    _figures,  # type: ignore[attr-defined]
    current,
    current_path,
    read_baseline,
    refuse_unfinished,
    results,
)
from seedbed.nightly.explaining import (
    _judgings,  # type: ignore[attr-defined]
    explain_latest,
    explain_runs,
)
from seedbed.nightly.gate import judge
from seedbed.nightly.kept import keep, kept_folder, kept_of, read_kept, same_case, same_inputs
from seedbed.phases.context import SweepRun, open_run, read_run
from seedbed.storage.store import Store, read_json, write_json
from seedbed.suite import Case, Metric
from seedbed.sweep.config import GateConfig
from tests.unit.nightly.test_gate import FIGURES, entry


@pytest.fixture
def run(toy_run: Path) -> SweepRun:
    return open_run(str(toy_run))


def accepted(*entries: Any, version: int = 3) -> Baseline:
    return Baseline(version, "night", "20260101T000000-aaaa", "2026-01-02T03:04:05Z", "c0ffee", "a note", entries)


def test_a_baseline_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    metrics = [Metric("f1", "F1", range=(0.0, 5.0)), Metric("em", "EM", higher_is_better=None, range=None)]
    one = entry({"multi": [1.0, np.nan, 0.5], "cross": [0.0, 0.25, 1.0]}, ids=range(3))
    by_seed = {"multi": {seed: np.array([[seed, np.nan], [1, 1], [2, 2.5]]) for seed in (0, 7)}}
    table = replace(one.table, declared=metrics, clusters=np.array([0, 0, 1]), by_seed=by_seed)
    table = replace(table, made_by_seed=frozenset({"multi"}))
    who = [{"model": "reader", "answered_by": "x", "answers": 3}]
    before = accepted(replace(one, table=table, answerers=who), entry({"multi": []}, ids=range(0)))
    write_json(tmp_path / "v0003.json", baseline.to_json(before))
    again = read_baseline(tmp_path / "v0003.json")
    assert replace(again, entries=()) == replace(before, entries=())
    assert again.title == "v3 (run 20260101T000000-aaaa, accepted 2026-01-02)"
    first, empty = again.entries
    assert (list(first.table.declared), list(first.table.sample_ids)) == (metrics, ["s0", "s1", "s2"])
    assert (first.made_with, dict(first.figures)) == (one.made_with, dict(one.figures))
    assert (first.answerers, first.table.key, first.table.baseline) == (who, table.key, "multi")
    np.testing.assert_array_equal(first.table.clusters, [0, 0, 1])
    for label, values in table.values.items():
        np.testing.assert_array_equal(first.table.values[label], values)
    assert list(first.table.by_seed) == ["multi"]
    for seed in (0, 7):
        np.testing.assert_array_equal(first.table.by_seed["multi"][seed], by_seed["multi"][seed])
    assert first.table.made_by_seed == {"multi"}
    assert empty.table.values["multi"].shape == (0, 2)


def test_a_baseline_of_before_answerers_were_taken_down_is_read(tmp_path: Path) -> None:
    data = baseline.to_json(accepted(entry()))
    for own in data["entries"]:
        del own["answerers"], own["by_seed"]
    write_json(tmp_path / "v0001.json", data)
    (only,) = read_baseline(tmp_path / "v0001.json").entries
    assert (only.answerers, only.table.by_seed, only.table.made_by_seed) == ((), {}, frozenset())


def test_versions_are_counted_by_number_and_nothing_else_is_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert (current(store, "night"), current_path(store, "night")) == (None, None)
    folder = tmp_path / "baselines/night"
    for name in ("v10000.json", "v0009.json", "v0009.json.bak", "latest.json"):
        write_json(folder / name, baseline.to_json(accepted(version=int(name[1:5]) if name[1:5].isdigit() else 0)))
    (folder / "v0009").mkdir()
    assert [number for number, _ in baseline.versions(store, "night")] == [9, 10000]
    assert current_path(store, "night") == folder / "v10000.json"
    assert current_path(store, "night", str(folder / "v0009.json")) == folder / "v0009.json"
    with pytest.raises(UserError, match=r"gate\.baseline: .*v0001\.json does not exist"):
        current_path(store, "night", str(folder / "v0001.json"))


@pytest.fixture
def lab(toy_run: Path, tmp_path: Path) -> SweepRun:
    """The finished run in a folder that may be changed."""
    root = toy_run.parents[2]
    shutil.copytree(root, tmp_path / "out", ignore=shutil.ignore_patterns("cache"))
    return read_run(tmp_path / "out" / toy_run.relative_to(root), toy_run.parents[3])


def _scored_at(run: SweepRun, after_s: float) -> None:
    """Set when the first cell was scored, so long after its summary was written."""
    path = run.store.cell_dir(run.plan.cells[0]) / "done/score.json"
    written = (run.folder / "summary.json").stat().st_mtime
    write_json(path, {**read_json(path), "finished_at": written + after_s})


def test_a_cell_that_was_scored_after_its_summary_was_run_again(lab: SweepRun) -> None:
    os.utime(lab.folder / "summary.json", (2e9, 2e9))
    _scored_at(lab, 0.05)
    refuse_unfinished(lab)
    _scored_at(lab, 0.1)
    refuse_unfinished(lab)
    _scored_at(lab, 0.2)
    with pytest.raises(
        UserError, match=r"^.*: weak · sums · reader · seed 0 was run again since, .*; accept the newest"
    ):
        refuse_unfinished(lab)
    with pytest.raises(UserError, match=r"are gone; do something else\.$"):
        refuse_unfinished(lab, "do something else")


def test_a_cell_without_scores_was_run_again_too(lab: SweepRun) -> None:
    (lab.store.cell_dir(lab.plan.cells[0]) / "done/score.json").unlink()
    with pytest.raises(UserError, match="was run again since"):
        refuse_unfinished(lab)


def test_each_acceptance_is_a_version_and_keeps_what_can_be_crossed(lab: SweepRun) -> None:
    first, path = baseline.accept(lab, "good")
    assert (first.version, first.note, first.sweep, first.run) == (1, "good", "toys", lab.folder.name)
    assert (path.name, current_path(lab.store, "toys")) == ("v0001.json", path)
    kept = read_kept(kept_folder(path))
    assert kept is not None
    cell = lab.plan.cells[-1]
    assert kept.cells[cell.folder] == cell
    assert kept.read_answers(cell) == kept_of(lab).read_answers(cell)
    assert kept.read_cases(cell) == {case.sample_id: case for case in lab.plan.benchmark(cell).test}
    assert kept.roles[cell.folder] == {"task": "reader"}
    assert len(list((kept_folder(path) / "cases").iterdir())) == 1, "cells share their cases"
    second, path = baseline.accept(lab)
    assert (second.version, path.name, second.note) == (2, "v0002.json", "")


def test_a_version_that_another_process_has_just_written_is_left_alone(
    lab: SweepRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = baseline.accept(lab)
    before = path.read_bytes()
    monkeypatch.setattr(baseline, "versions", lambda store, sweep: [])
    with pytest.raises(UserError, match=r"v0001\.json: another process has just accepted a baseline"):
        baseline.accept(lab)
    assert path.read_bytes() == before


def test_what_is_kept_counts_once_its_index_is_there(lab: SweepRun, tmp_path: Path) -> None:
    assert read_kept(tmp_path / "kept") is None
    keep(lab, tmp_path / "kept")
    assert read_kept(tmp_path / "kept") is not None
    cases = next((tmp_path / "kept/cases").iterdir())
    cases.write_text("", encoding="utf-8")
    keep(lab, tmp_path / "kept")
    assert cases.read_text(encoding="utf-8") == "", "what is there is not written again"


CASE = Case("s", {"question": "why?"}, gold="so", meta={"lang": "en"}, cluster="c")


@pytest.mark.parametrize(
    ("changes", "inputs", "case"),
    [
        ({}, True, True),
        ({"sample_id": "t", "cluster": "d"}, True, True),
        ({"gold": "not so"}, True, False),
        ({"meta": {"lang": "de"}}, True, False),
        ({"inputs": {"question": "how?"}}, False, False),
        ({"repeat": 1}, False, False),
    ],
)
def test_cases_are_the_same_by_what_systems_and_scorers_see(changes: dict[str, Any], inputs: bool, case: bool) -> None:
    other = replace(CASE, **changes)
    assert (same_inputs(CASE, other), same_case(CASE, other)) == (inputs, case)


def test_the_latency_of_a_system_is_the_median_of_all_its_cells_calls(run: SweepRun) -> None:
    (found,) = results(run)
    first, second = (cell.id for cell in found.table.cells["ask"])
    figures = _figures(found.table, "ask", {first: [1.0, 2.0], second: [9.0], "another": [50.0]})
    assert (figures.latency_s, figures.n_latencies, figures.n_seeds) == (2.0, 3, 2)
    none = _figures(found.table, "ask", {})
    assert (none.latency_s, none.n_latencies) == (None, 0)


def test_the_tokens_of_a_system_are_those_in_and_out_of_all_its_phases_and_seeds(run: SweepRun) -> None:
    (found,) = results(run)
    usage = {
        "generate": {"tokens_in": 10, "tokens_out": 2, "list_usd": 0.5},
        "score": {"tokens_in": 100, "tokens_out": 20, "list_usd": 0.25},
    }
    own = {"n": 5, "n_errors": 2, "n_skipped": 1, "usage": usage}
    table = replace(found.table, seeds={"ask": {0: own, 1: {**own, "n": 6, "n_errors": 1}}})
    figures = _figures(table, "ask", {})
    assert (figures.tokens, figures.list_usd) == (2 * 132, 1.5)
    assert (figures.n_samples, figures.n_errors) == (16, 3)
    assert figures.error_share == 3 / 16


# -- what is explained -------------------------------------------------------------------------------------------------


def judgings(base: Any, night: Any, *, compared: bool = True, **config: Any) -> list[tuple[str, Sequence[str]]]:
    gate = GateConfig.model_validate({"min_effect": 0.1, **config})
    result = judge(accepted(base), [night], "completed", gate)
    found = _judgings([base], [night], gate, result.comparisons if compared else None)
    return [(one.label, one.metrics) for one in found]


def _scores(share: float) -> Any:
    return (np.arange(100) < share * 100).astype(float)


def test_of_a_night_what_got_worse_is_explained() -> None:
    base = entry({"a": _scores(0.8), "b": _scores(0.8), "c": _scores(0.4)})
    night = entry({"a": _scores(0.4), "b": _scores(0.8), "c": _scores(0.8)})
    assert judgings(base, night) == [("a", ["f1"])]
    assert judgings(base, night, metrics={"crosslingual": ["em", "f1"]}) == [("a", ["em", "f1"])]
    assert judgings(base, night, compared=False) == [("a", ["f1"]), ("b", ["f1"]), ("c", ["f1"])]


@pytest.mark.parametrize(("higher", "expected"), [(False, ["c"]), (None, ["a", "c"])])
def test_which_way_is_worse_is_the_metrics_to_say(higher: bool | None, expected: list[str]) -> None:
    def turned(values: dict[str, Any]) -> Any:
        one = entry(values)
        declared = [replace(metric, higher_is_better=higher) for metric in one.table.declared]
        return replace(one, table=replace(one.table, declared=declared))

    base = turned({"a": _scores(0.8), "b": _scores(0.8), "c": _scores(0.4)})
    night = turned({"a": _scores(0.4), "b": _scores(0.8), "c": _scores(0.8)})
    assert [label for label, _ in judgings(base, night)] == expected


@pytest.mark.parametrize("changed", ["scoring", "data"])
def test_what_other_terms_keep_from_being_compared_is_explained_too(changed: str) -> None:
    base = entry()
    night = entry(made_with={**base.made_with, changed: "other"})
    assert judgings(base, night) == [("multi", ["f1"])]
    assert judgings(base, entry()) == []


def test_a_metric_that_the_baseline_lacks_cannot_be_explained() -> None:
    whole = entry()
    table = replace(
        whole.table, declared=whole.table.declared[1:], values={"multi": whole.table.values["multi"][:, 1:]}
    )
    assert judgings(replace(whole, table=table), whole, compared=False) == []


def test_without_a_baseline_the_newest_run_cannot_be_explained(lab: SweepRun) -> None:
    with pytest.raises(UserError, match=r"^toys: no baseline yet; `seedbed baseline accept toys` makes one"):
        explain_latest(lab)
    _, path = baseline.accept(lab)
    shutil.rmtree(kept_folder(path))
    with pytest.raises(UserError, match=r"v0001\.json: keeps no answers to cross with; accept a baseline anew"):
        explain_latest(lab)


def test_runs_whose_scores_are_gone_cannot_be_explained(lab: SweepRun, run: SweepRun) -> None:
    _scored_at(lab, 100.0)
    with pytest.raises(UserError, match="run the other with another --out, and explain those"):
        explain_runs(lab, run)
    with pytest.raises(UserError, match="so this run's scores are gone; accept the newest run"):
        explain_runs(run, lab)


def test_the_share_of_errors_is_that_of_all_samples() -> None:
    assert replace(FIGURES, n_samples=80, n_errors=20).error_share == 0.25
