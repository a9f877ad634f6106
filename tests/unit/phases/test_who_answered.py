"""Who answered, and what nobody counted: in the files of a run and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from seedbed.cli.main import main
from seedbed.lm.ledger.database import open_database, sqlite_url
from seedbed.phases.context import open_run
from seedbed.phases.verify import verify
from tests.support.toy import finished_run


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("toys"), ask=True, also="own_client")


@pytest.mark.slow
def test_a_system_that_calls_past_the_ledger_is_not_called_free(toys: Path, caplog: pytest.LogCaptureFixture) -> None:
    summary = json.loads((toys / "summary.json").read_text())
    rows = {row["label"]: row for row in summary["rows"]}
    assert rows["own_client"]["uncounted"]
    assert rows["own_client"]["list_usd"] is None
    assert rows["own_client"]["spent_usd"] is None
    assert not rows["weak"]["uncounted"]
    assert rows["weak"]["list_usd"] == 0.0
    assert [row["calls"] for row in summary["costs"] if row["outcome"] == "uncounted"] == [None]


def test_one_note_says_how_to_have_its_calls_counted(toys: Path) -> None:
    text = (toys / "summary.md").read_text()
    assert text.count("made no call that the ledger knows") == 1
    assert 'make its calls with `context.lm("task")`' in text
    assert "| generate | task | reader | uncounted | ? | ? | ? | ? | ? | ? |" in text
    page = (toys / "report.html").read_text()
    assert "made no call that the ledger knows" in page


def test_costs_of_the_command_line_show_it_too(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "toys", "--out", str(toys.parents[2])]) == 0
    out = capsys.readouterr().out
    assert "uncounted" in out
    assert "spent $?" in out


@pytest.mark.slow
def test_the_run_verifies(toys: Path) -> None:
    found = verify(open_run(str(toys)))
    assert found.differences == []


def test_who_answered_stands_in_manifests_report_and_status(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((toys / "manifest.json").read_text())
    assert [(row["model"], row["provider"]) for row in manifest["answerers"]] == [("reader", "offline")]
    cells = [
        json.loads(path.read_text()) for path in toys.parents[2].glob("experiment_runs/seed_0/*ask*/manifest.json")
    ]
    assert [cell["answerers"][0]["provider"] for cell in cells] == ["offline"]
    assert "Who answered" in (toys / "report.html").read_text()
    assert main(["status", "--out", str(toys.parents[2])]) == 0
    assert "reader answered by" in capsys.readouterr().out


def test_a_model_that_changes_during_the_sweep_is_said(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = toys.parents[2]
    engine = open_database(sqlite_url(root / "ledger.sqlite"))
    with engine.begin() as connection:
        last = connection.scalar(text("SELECT max(id) FROM attempts"))
        connection.execute(text(f"UPDATE attempts SET fingerprint = 'fp_old' WHERE id < {last}"))
        connection.execute(text(f"UPDATE attempts SET fingerprint = 'fp_new' WHERE id = {last}"))
    engine.dispose()
    assert main(["report", "toys", "--out", str(root)]) == 0
    said = "reader: its fingerprint changed during the sweep: fp_old ("
    assert said in (toys / "summary.md").read_text()
    assert said in (toys / "report.html").read_text()
    assert main(["status", "--out", str(root)]) == 0
    assert said in capsys.readouterr().out
