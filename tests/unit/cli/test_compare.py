"""`seedbed compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seedbed.cli.main import main


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
