"""The examples of `seedbed init`, from an empty folder to scores, phase by phase and offline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.cli.main import main
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import open_run
from seedbed.phases.publish import Choices
from seedbed.phases.verify import verify
from seedbed.suites.custom.examples import EXAMPLES
from tests.support.cells import Prepared, prepared

pytestmark = pytest.mark.slow


def finished(folder: Path, example: str, *overrides: str) -> tuple[Prepared, dict[str, dict[str, Any]]]:
    """The example run in a folder, and its metrics by system and optimizer."""
    assert main(["init", "--example", example, str(folder)]) == 0
    ready = prepared(folder / f"{example}.yaml", folder / "out", list(overrides))
    try:
        found = {cell.label: ready.all_phases(cell)["metrics"] for cell in ready.plan.cells if cell.seed == 0}
    finally:
        close_runtimes()
    return ready, found


def test_every_example_is_known_to_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for example in EXAMPLES:
        assert main(["init", "--example", example, str(tmp_path / example)]) == 0
        assert main(["plan", str(tmp_path / example / f"{example}.yaml")]) == 0
        assert main(["init", "--example", example, str(tmp_path / example)]) == 2
        assert "is there already; move it away" in capsys.readouterr().err


def test_qa_is_twelve_lines_and_ends_in_a_verified_paired_table(tmp_path: Path) -> None:
    ready, found = finished(tmp_path, "qa", "seeds=[0]")
    text = (tmp_path / "qa.yaml").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]) <= 12
    assert yaml.safe_load(text)["name"] == "qa"
    assert found["plain"]["exact"] == 0
    assert 0.6 < found["terse"]["exact"] < 1
    assert found["cot"]["n_exact"] == 60
    run = open_run(ready.run)
    assert publish_again(run, Choices())
    table = (run.folder / "summary.md").read_text(encoding="utf-8")
    assert "terse" in table
    assert "Exact" in table
    assert verify(run).differences == []


def test_a_judge_marks_on_its_scale_and_its_reasons_are_kept(tmp_path: Path) -> None:
    ready, found = finished(tmp_path, "judge")
    assert 1 <= found["plain"]["helpful"] < found["strict"]["helpful"] <= 5
    assert found["plain"]["n"] == 40
    row = ready.rows(ready.plan.cells[0], "scores.jsonl")[0]
    assert row["details"]["helpful"]["judge_reason"]
    calls = ready.rows(ready.plan.cells[0], "lm_history.jsonl")
    assert {(call["phase"], call["role"]) for call in calls} == {("generate", "task"), ("score", "judge")}


def test_reading_helps_and_variants_are_made(tmp_path: Path) -> None:
    _, found = finished(tmp_path, "rag")
    assert found["closed"]["f1"] < found["open-prompt1"]["f1"] < found["open-prompt2"]["f1"]


def test_gepa_improves_a_prompt_by_search(tmp_path: Path) -> None:
    ready, found = finished(tmp_path, "optimise")
    assert found["plain+GEPA-5"]["exact"] > found["plain"]["exact"] + 0.4
    rows = ready.rows(ready.cell("GEPA-5"), "candidates.jsonl")
    best = next(row for row in rows if row["chosen"])
    assert best["candidate"] > 0
    assert best["instructions"]["predict"].startswith("What is the capital of {country}?\n")
    assert best["val_score"] > rows[0]["val_score"]


def test_the_kits_scorers_work_in_a_built_in_suite(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text("def short(answer):\n    return len(answer) < 40\n", encoding="utf-8")
    config = tmp_path / "sweep.yaml"
    config.write_text(
        "name: other\nseeds: [0]\nmodels: {m: {model: offline/reader}}\nroles: {judge: m}\nexperiments:\n"
        "  - suite: crosslingual\n    models: [m]\n    benchmarks: [{name: tiny, limit: 6}]\n    systems: [multi]\n"
        "    scorers: [contains, chrf, {name: good, judge: Is it right., scale: [0, 10]}, "
        "{name: short, code: checks.py:short, kind: rate}, {name: f1, label: f1_kit}]\n",
        encoding="utf-8",
    )
    ready = prepared(config, tmp_path / "out")
    try:
        found = ready.all_phases(ready.plan.cells[0])["metrics"]
    finally:
        close_runtimes()
    assert all(found[f"n_{name}"] == 6 for name in ("contains", "chrf", "good", "short", "f1_kit"))
    assert found["f1_kit"] == pytest.approx(found["f1"])


def test_a_case_without_an_answer_is_undefined_in_every_metric_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("q,a\nWhat is 1?,1\nWhat is 2?,\n", encoding="utf-8")
    config = tmp_path / "sweep.yaml"
    config.write_text(
        "name: blank\nseeds: [0]\nmodels: {m: {model: offline/reader}}\nexperiments:\n  - suite: custom\n"
        "    models: [m]\n    benchmarks: [{name: c, path: cases.csv, answer: a}]\n"
        '    systems: [{name: s, prompt: "{q}"}]\n    scorers: [exact, numeric, rouge]\n',
        encoding="utf-8",
    )
    ready = prepared(config, tmp_path / "out")
    try:
        found = ready.all_phases(ready.plan.cells[0])["metrics"]
    finally:
        close_runtimes()
    assert (found["n"], found["n_errors"]) == (2, 0)
    assert (found["n_exact"], found["n_numeric"], found["n_rougeL"]) == (1, 1, 1)
    blank = ready.rows(ready.plan.cells[0], "scores.jsonl")[1]
    assert set(blank["scores"].values()) == {None}
    assert "scorer_errors" not in blank["details"]


def test_an_agent_calls_its_tools_and_every_call_is_counted(tmp_path: Path) -> None:
    ready, found = finished(tmp_path, "agent", "seeds=[0]", "experiments.0.benchmarks.0.limit=2")
    assert found["agent"]["contains"] == 1
    agent = next(cell for cell in ready.plan.cells if cell.label == "agent")
    calls = ready.rows(agent, "lm_history.jsonl")
    assert [call["sample"] for call in calls].count("t01") == 3
    assert {call["outcome"] for call in calls} == {"paid"}
    log = (ready.folder(agent) / "logs" / "t01.log").read_text(encoding="utf-8")
    assert log.startswith("find_town: Alderby\nread_about: Alderby is a market town")
