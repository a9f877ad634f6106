"""`seedbed compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.phases.imports.imported import Imported, ImportedRow, ImportedTable
from seedbed.report.read_page import read_page
from seedbed.suite import Metric


def test_compare_prints_json(toy_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", f"{toy_run}:weak", f"{toy_run}:strong", "--json", "--metric", "right"]
    assert main(arguments) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["metric"], only["verdict"]) == ("right", "better")


def test_an_unknown_system_is_a_users_mistake(toy_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{toy_run}:weak", f"{toy_run}:nobody"]) == 2
    assert "no such system with results; known: ask, middle" in capsys.readouterr().err


def test_what_has_no_pairs_is_named_with_the_reason(toy_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{toy_run}:weak", f"{toy_run}:strong"]) == 0
    shown = capsys.readouterr().out
    assert "toy · not compared: F1 (a figure of the whole cell is compared within a sweep only)" in shown


def test_open_writes_a_page_with_the_answers_of_both_and_the_worst_regressions_first(
    toy_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    arguments = ["compare", f"{toy_run}:weak", f"{toy_run}:strong", "--open", "--out", str(tmp_path)]
    assert main(arguments) == 0
    page = Path(capsys.readouterr().out.splitlines()[-1].strip())
    assert opened == [page.resolve().as_uri()]
    index = read_page(page.read_text(encoding="utf-8")).packs["samples-index"]
    (table,) = index["tables"]
    labels = [system["label"] for system in table["systems"]]
    assert labels == ["toys: weak", "toys: strong"]
    assert index["view"] == {"system": "toys: strong", "against": "toys: weak"}
    before = page.read_bytes()
    assert main(arguments) == 0
    assert page.read_bytes() == before


def test_open_has_nothing_to_show_of_an_import(
    toy_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [ImportedRow(f"q{at:05d}", 0, {"digits": 1.0}) for at in range(24)]
    Imported("theirs", "inspect", [ImportedTable("sums", "reader", [Metric("digits", "Digits")], rows)]).write(tmp_path)
    Imported("ours", "inspect", [ImportedTable("sums", "reader", [Metric("digits", "Digits")], rows)]).write(tmp_path)
    assert main(["compare", "theirs", "ours", "--open", "--out", str(tmp_path)]) == 2
    assert "only sweeps have samples to show" in capsys.readouterr().err
