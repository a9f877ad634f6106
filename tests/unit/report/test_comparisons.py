"""Baselines, verdicts, `seedbed compare` and `seedbed export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from seedbed.cli import main
from seedbed.compare import Side, compare
from seedbed.config import load_config
from seedbed.errors import UserError
from seedbed.phases.context import open_run
from seedbed.report.summary import make_summary
from seedbed.report.verdict import margin_of, verdict


def made(run: Path, **options: Any) -> Any:
    opened = open_run(str(run))
    return make_summary(opened.store, opened.plan, [], {}, "completed", **options)


def said(**fields: Any) -> str:
    given: dict[str, Any] = {
        "difference": 0.1,
        "interval": (0.05, 0.15),
        "p": 0.01,
        "clusters": 100,
        "margin": 0.05,
        "higher_is_better": True,
    }
    return verdict(**{**given, **fields})


def test_the_first_system_is_the_baseline(toy_run: Path) -> None:
    assert {c.baseline for c in made(toy_run).comparisons} == {"weak"}


def test_another_baseline_can_be_chosen(toy_run: Path) -> None:
    summary = made(toy_run, baseline="strong")
    assert {c.baseline for c in summary.comparisons} == {"strong"}
    assert next(c for c in summary.comparisons if c.label == "weak" and c.metric == "digits").verdict == "worse"


def test_an_unknown_baseline_is_named_with_the_known_ones(toy_run: Path) -> None:
    with pytest.raises(UserError, match=r"no system of this sweep; known: ask, middle, strong, weak"):
        made(toy_run, baseline="stronk")


def test_a_config_may_name_the_baseline_and_is_told_of_a_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "name: x\nseeds: [0]\nmodels: {m: {model: offline/reader}}\nexperiments:\n"
        "  - {suite: crosslingual, models: [m], benchmarks: [tiny], systems: [direct, multi], baseline: mutli}\n"
    )
    with pytest.raises(UserError, match="baseline 'mutli' is not among this experiment's direct, multi"):
        load_config(path)


def test_holm_runs_over_all_tests_of_a_metric(toy_run: Path) -> None:
    tests = sorted((c.p, c.p_holm) for c in made(toy_run).comparisons if c.metric == "digits")
    assert tests[0][1] == pytest.approx(3 * tests[0][0])
    assert all(adjusted >= p for p, adjusted in tests)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "better"),
        ({"higher_is_better": False}, "worse"),
        ({"higher_is_better": None}, "higher"),
        ({"p": 0.2, "interval": (-0.02, 0.04), "difference": 0.01}, "no difference"),
        ({"p": 0.2, "interval": (-0.02, 0.22)}, "too small to tell"),
        ({"p": None}, "too small to tell"),
        ({"p": 1.0, "difference": 0.0, "interval": (0.0, 0.0), "clusters": 12}, "too small to tell"),
        ({"p": 1.0, "difference": 0.0, "interval": (0.0, 0.0), "clusters": 60}, "no difference"),
    ],
)
def test_verdicts(fields: dict[str, Any], expected: str) -> None:
    assert said(**fields) == expected


def test_the_margin_of_shares_is_absolute_and_of_amounts_relative() -> None:
    assert margin_of([0.0, 0.9], 0.4, 0.05) == 0.05
    assert margin_of([120.0, 80.0], 100.0, 0.05) == pytest.approx(5.0)


def test_two_systems_of_a_sweep_are_compared(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    found = {c.metric: c for c in compare(Side(run, "weak"), Side(run, "strong"))}
    assert found["digits"].verdict == "better"
    direct = next(c for c in made(toy_run).comparisons if c.label == "strong" and c.metric == "digits")
    assert (found["digits"].difference, found["digits"].p) == (direct.difference, direct.p)


def test_a_sweep_against_itself_shows_no_difference(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    assert {c.difference for c in compare(Side(run), Side(run)) if c.metric == "digits"} == {0.0}


def test_compare_prints_json(toy_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", f"{toy_run}:weak", f"{toy_run}:strong", "--json", "--metric", "right"]
    assert main(arguments) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["metric"], only["verdict"]) == ("right", "better")


def test_an_unknown_system_is_a_users_mistake(toy_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{toy_run}:weak", f"{toy_run}:nobody"]) == 2
    assert "no such system with results; known: ask, middle" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_holds_every_sample_with_its_scores(toy_run: Path, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"samples.{form}"
    assert main(["export", str(toy_run), "--format", form, "--to", str(target)]) == 0
    table = pd.read_csv(target) if form == "csv" else pd.read_parquet(target)
    assert len(table) == 8 * 24
    strong = table[table.system == "strong"].groupby("seed").score_digits.mean().mean()
    row = next(r for r in made(toy_run).rows if r.label == "strong")
    assert strong == pytest.approx(row.metrics["digits"].mean)
    assert table[table.status == "error"].score_digits.isna().all()
