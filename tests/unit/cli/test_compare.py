"""`seedbed compare`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.phases.imports.imported import Imported, ImportedRow, ImportedTable
from seedbed.report.read_page import read_page
from seedbed.suite import Metric
from tests.support.cells import prepared

_SWEEP = """\
name: {name}
seeds: [0]
models: {{reader: {{model: offline/reader}}}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{{name: sums, n: 24}}]
    systems: [{{name: guess, skill: {skill}}}]
plugins: [tests.support.toy]
"""


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
    assert index["view"] == {
        "table": "toy/sums/reader", "metric": "digits", "system": "toys: strong", "against": "toys: weak"
    }  # fmt: skip
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


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_sentences_that_fit_it_instead_of_tables_that_do_not(
    toy_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", f"{toy_run}:weak", f"{toy_run}:strong", "--metric", "right"]) == 0
    lines = screen.getvalue().splitlines()
    assert any("sums with reader: strong beats toys:weak by " in line for line in lines)
    assert any("(Holm)" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_sweep_whose_cells_gave_way_to_others_of_the_same_names_is_named_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[Path] = []
    for name, skill in (("before", 0.9), ("after", 0.2)):
        config = tmp_path / f"{name}.yaml"
        config.write_text(_SWEEP.format(name=name, skill=skill), encoding="utf-8")
        runs.append(prepared(config, tmp_path / "out").finish())
    assert main(["compare", *map(str, runs)]) == 2
    said = capsys.readouterr().err
    assert "before: none of its cells has a result here" in said
    assert "a name of its own" in said
