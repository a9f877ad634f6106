"""Two runs of the same sweep give the same bytes: how long things took lies in files of its own."""

from __future__ import annotations

import pytest

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.times import part_times
from seedbed.suite import TIMES
from tests.support.cells import Prepared, prepared

pytestmark = pytest.mark.slow

SWEEP = """\
name: twice
seeds: [0]
models:
  m: {model: offline/m, temperature: 0.7}
  judge: {model: offline/judge}
roles: {judge: judge, translator: judge, untrusted: m}
experiments:
  - {suite: crosslingual, models: [m], benchmarks: [{name: tiny, limit: 6}], systems: [lbrag]}
  - {suite: contract_risk, models: [m], benchmarks: [{name: clauses, limit: 6}], systems: [full]}
  - {suite: rag_quality, models: [m], benchmarks: [{name: sample, limit: 6}], systems: [bm25_rag]}
  - {suite: prompt_optimization, models: [m], benchmarks: [{name: Papillon, limit: 4}], systems: [PAPILLON]}
  - suite: finance_dialog
    models: [m]
    benchmarks: [{name: dialogues, limit: 2, judge: true}]
    systems: [memory_agent]
"""
SAME = ("predictions.jsonl", "scores.jsonl", "metrics.json", "evaluation_results/result.json")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Prepared, Prepared]:
    """The sweep run in two folders, each with a ledger of its own."""
    made: list[Prepared] = []
    for name in ("first", "second"):
        folder = tmp_path_factory.mktemp(name)
        (folder / "twice.yaml").write_text(SWEEP, encoding="utf-8")
        sweep = prepared(folder / "twice.yaml", folder / "out")
        for cell in sweep.plan.cells:
            sweep.all_phases(cell)
        close_runtimes()
        made.append(sweep)
    return made[0], made[1]


@pytest.mark.parametrize("name", SAME)
def test_two_runs_of_a_sweep_over_all_suites_differ_in_no_byte(runs: tuple[Prepared, Prepared], name: str) -> None:
    first, second = runs
    suites = {cell.suite for cell in first.plan.cells}
    assert len(suites) == 5
    for cell in first.plan.cells:
        one, other = ((run.folder(cell) / name).read_bytes() for run in runs)
        assert one == other, f"{cell.title}: {name}"
    assert first.root != second.root


def test_the_times_of_turns_and_judgements_are_kept_beside_them(runs: tuple[Prepared, Prepared]) -> None:
    run = runs[0]
    by_suite = {cell.suite: cell for cell in run.plan.cells}
    dialogues = by_suite["finance_dialog"]
    turns = {row["sample_id"]: len(row["output"]["turns"]) for row in run.rows(dialogues, "predictions.jsonl")}
    taken = {row["sample_id"]: row["times"]["latency_ms"] for row in run.rows(dialogues, "generate_times.jsonl")}
    assert {name: len(times) for name, times in taken.items()} == turns
    assert all(ms > 0 for times in taken.values() for ms in times)
    traces = run.rows(dialogues, "dialog_trace.jsonl")
    assert {t["dialog_id"]: [turn["latency_ms"] for turn in t["turns"]] for t in traces} == taken
    judged = run.rows(by_suite["rag_quality"], "score_times.jsonl")
    assert len(judged) == 6
    assert all(seconds > 0 for row in judged for seconds in row["times"].values())
    assert not (run.folder(by_suite["crosslingual"]) / "score_times.jsonl").exists()


def test_rows_keep_all_but_their_times() -> None:
    rows = [{"sample_id": "a", "output": {"answer": "x", TIMES: {"s": 1.5}}}, {"sample_id": "b", "error": {}}]
    plain, times = part_times(rows, "output")
    assert plain == [{"sample_id": "a", "output": {"answer": "x"}}, {"sample_id": "b", "error": {}}]
    assert times == [{"sample_id": "a", "times": {"s": 1.5}}]
