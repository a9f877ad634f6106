"""Scoring a cell: its files, its flat metrics, the judge beside it, the report from several cells."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.storage.redact import redact
from seedbed.storage.store import read_json, write_jsonl
from seedbed.suite import CellResult, Failure, Figure, ScoreRow, Shown, Table
from seedbed.suites.finance_dialog.console import console
from seedbed.suites.finance_dialog.report import report
from seedbed.suites.finance_dialog.scorers import aggregate
from seedbed.suites.finance_dialog.tallies import METRICS, QUOTIENTS

pytestmark = pytest.mark.slow

Bench = Any  # the fixture's type lives in conftest, which is not importable


def _cell(
    bench: Bench, system: str, name: str, seed: int = 0, options: dict[str, Any] | None = None, **model: Any
) -> Any:
    """A played and scored cell in a folder of its own, with its rows on disk as a sweep leaves them."""
    context = bench.context(limit=5, **model)
    context.folder = bench.folder / f"{name}-{seed}"
    rows = bench.score(context, bench.play(context, system, **(options or {})))
    write_jsonl(context.folder / "scores.jsonl", (asdict(row) for row in rows))
    return CellResult("dialogues", name, "offline", seed, aggregate(rows), context.folder)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_suites_table_shows_the_intervals_of_the_reports_main_table(bench: Bench) -> None:
    cell = replace(_cell(bench, "memory_agent", "m"), shown={"strict_key_hit_rate": Shown(0.7, 0.61, 0.79)})
    table = report([cell])[0]
    assert isinstance(table, Table)
    shown = dict(zip(table.columns, table.rows[0], strict=True))
    assert shown["M1 strict key hit rate"] == "0.700 [0.610, 0.790]"


def test_a_scored_cell_leaves_traces_rows_summary_and_manifest(bench: Bench) -> None:
    cell = _cell(bench, "memory_agent", "memory_agent")
    traces, rows = _lines(cell.folder / "dialog_trace.jsonl"), _lines(cell.folder / "turn_eval.jsonl")
    assert len(traces) == 5
    assert len(rows) == sum(len(trace["turns"]) for trace in traces)
    first = traces[0]["turns"][0]
    assert {"user_turn_abs_idx", "gt_assistant_text", "gt_turn_tags", "recall", "compliance", "usage"} <= set(first)
    manifest = read_json(cell.folder / "run_manifest.json")
    assert manifest["profile"] == "spec"
    assert len(manifest["lexicon_sha256"]) == 64
    assert manifest["m1_handling"] == "as_annotated"


def test_flat_metrics_from_stored_rows_equal_the_summary(bench: Bench) -> None:
    cell = _cell(bench, "memory_agent", "memory_agent", errors={"timeout": 0.2})
    stored = [ScoreRow(**row) for row in _lines(cell.folder / "scores.jsonl")]
    flat, told = aggregate(stored), read_json(cell.folder / "metrics_summary.json")["metrics"]
    for metric in METRICS:
        for quotient in QUOTIENTS[metric]:
            assert flat[quotient.name] == pytest.approx(told[metric]["micro"][quotient.name])
        short = metric.partition("_")[0]
        assert flat[f"failed_count_{short}"] == told[metric]["counts"]["failed_count"]
        assert flat[f"availability_{short}"] == told[metric]["availability"]


def test_no_name_of_a_figure_is_taken_for_a_secret(bench: Bench) -> None:
    cell = _cell(bench, "llm_only", "llm_only")
    names = json.dumps(dict(cell.metrics))
    assert redact(names) == names
    files = ("dialog_trace.jsonl", "turn_eval.jsonl", "metrics_summary.json", "scores.jsonl")
    assert all("[redacted]" not in (cell.folder / name).read_text("utf-8") for name in files)


def test_timeouts_lower_availability_and_penalised_figures_and_mark_the_plain_ones(bench: Bench) -> None:
    sound = _cell(bench, "full_context", "sound")
    shaky = _cell(bench, "full_context", "shaky", errors={"timeout": 0.2})
    assert sound.metrics["availability"] == 1.0
    assert shaky.metrics["availability"] < 1.0
    for name in ("key_coverage", "risk_coverage", "compliance_label_acc", "rubric_hit_rate", "judge_score_mean"):
        assert shaky.metrics[f"penalised_{name}"] < shaky.metrics[name]
        assert sound.metrics[f"penalised_{name}"] == sound.metrics[name]
    lines = console({"sound": sound.metrics, "shaky": shaky.metrics}).splitlines()
    assert "*" not in lines[0]
    assert "M3=" in lines[1]
    assert "*" in lines[1]
    table = report([sound, shaky])[0]
    assert isinstance(table, Table)
    column = list(table.columns).index("M3 risk coverage")
    assert ["*" in str(row[column]) for row in table.rows] == [False, True]
    assert "failed turns" in table.note


def test_a_system_that_gives_nothing_fails_all_its_turns_and_has_no_scores(bench: Bench) -> None:
    context = bench.context(limit=2)
    played = bench.play(context, "llm_only")
    first, second = (case.sample_id for case in context.benchmark.test)
    played[first] = Failure(first, {"kind": "server", "message": "gone"})
    rows = bench.score(context, played)
    assert (rows[0].status, rows[0].scores) == ("error", {})
    assert rows[1].status == "ok"
    flat = aggregate(rows)
    assert (flat["n"], flat["n_errors"]) == (1, 1)
    assert flat["failed_count_m4"] == len(context.benchmark.test[0].gold.turns)
    assert flat["failed_count_m2"] == 1
    assert second == rows[1].sample_id


def test_the_no_memory_baseline_has_no_m1_says_so_and_keeps_it_in_the_appendix(bench: Bench) -> None:
    cell = _cell(bench, "llm_only", "llm_only", options={"ignore_memory_keys": True})
    assert cell.metrics["key_coverage"] is None
    assert read_json(cell.folder / "run_manifest.json")["m1_handling"] == "ignored_memory_required_keys"
    appendix = read_json(cell.folder / "metrics_summary.json")["appendix"]["m1_with_memory_keys"]
    assert appendix["micro"]["key_coverage"] == 0.0
    parts = report([cell])
    assert isinstance(parts[0], Table)
    assert "ignored_memory_required_keys" in parts[0].note
    assert parts[-1].title.startswith("Appendix")


def test_the_judge_stands_beside_the_counted_score(bench: Bench) -> None:
    context = bench.context(limit=2)
    played = bench.play(context, "full_context")
    plain = aggregate(bench.score(context, played))
    context.benchmark = replace(context.benchmark, resources={**context.benchmark.resources, "judge": True})
    judged = aggregate(bench.score(context, played))
    assert plain["lm_judge_score"] is None
    assert 1 <= float(judged["lm_judge_score"] or 0) <= 5
    assert judged["judge_score_mean"] == plain["judge_score_mean"]
    assert judged["lm_judge_errors"] == 0


def test_a_judge_that_fails_gives_no_score(bench: Bench) -> None:
    context = bench.context(limit=1)
    played = bench.play(context, "full_context")
    broken = bench.context(limit=1, errors={"server": 1.0})
    broken.benchmark = replace(broken.benchmark, resources={**broken.benchmark.resources, "judge": True})
    flat = aggregate(bench.score(broken, played))
    assert flat["lm_judge_score"] is None
    assert flat["lm_judge_errors"] == flat["eligible_count_m5"]


def test_the_report_pools_seeds_and_points_to_the_worst_turns(bench: Bench) -> None:
    cells = [_cell(bench, "window_only", "window_only", seed) for seed in (0, 1)]
    parts = {part.title: part for part in report(cells)}
    figures, counts = parts["Figures"], parts["Counts and availability"]
    assert isinstance(figures, Table)
    assert isinstance(counts, Table)
    assert len(figures.rows) == 1
    assert "[" in str(figures.rows[0][3])
    turns = sum(len(t["turns"]) for t in _lines(cells[0].folder / "dialog_trace.jsonl"))
    m4 = next(row for row in counts.rows if row[3] == "M4")
    assert m4[4] == 2 * turns
    worst = parts["Worst 5 turns a metric"]
    assert isinstance(worst, Table)
    pointers = [p.split(" ")[0] for p in str(next(r for r in worst.rows if r[3] == "M1")[4]).split(", ")]
    known = {
        f"{t['dialog_id']}/{turn['turn_pair_id']}"
        for t in _lines(cells[0].folder / "dialog_trace.jsonl")
        for turn in t["turns"]
    }
    assert 0 < len(pointers) <= 5
    assert set(pointers) <= known
    slices = parts["By difficulty"]
    assert isinstance(slices, Table)
    assert sum(int(row[4] or 0) for row in slices.rows) == 5
    drawing = parts["Headline figures"]
    assert isinstance(drawing, Figure)
    assert drawing.svg.startswith("<svg")
    assert "window_only" in drawing.svg
