"""Nothing is started where running a sweep again would change nothing, and something is wherever it might."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import start_fresh
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import open_run
from seedbed.phases.publish import Choices
from seedbed.phases.up_to_date import finished_run
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan
from tests.support.cells import prepared
from tests.support.sweeps import OFFLINE

ONE_CELL = OFFLINE.replace("[0, 1]", "[0]").replace("[direct, multi]", "[direct]")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a config and the finished results of it."""
    folder = tmp_path_factory.mktemp("whole")
    config = folder / "tryout.yaml"
    config.write_text(ONE_CELL, encoding="utf-8")
    prepared(config, folder / "out").finish()
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def plan_of(folder: Path, *overrides: str) -> Plan:
    return make_plan(*load_config(folder / "tryout.yaml", list(overrides)))


def newest(folder: Path) -> Path:
    return max((folder / "out/sweeps/tryout").glob("2*"))


def test_a_sweep_whose_run_is_whole_needs_nothing(whole: Path) -> None:
    assert finished_run(plan_of(whole), whole / "out") == newest(whole)


def test_a_sweep_that_was_never_run_needs_everything(whole: Path, tmp_path: Path) -> None:
    assert finished_run(plan_of(whole), tmp_path / "elsewhere") is None


@pytest.mark.parametrize("override", ["seeds=[1]", "models.reader.temperature=0.5", "runner.workers=3"])
def test_another_plan_is_run(whole: Path, override: str) -> None:
    assert finished_run(plan_of(whole, override), whole / "out") is None


def _lose_scores(folder: Path) -> None:
    next((folder / "out/experiment_runs").rglob("scores.jsonl")).unlink()


def _lose_the_report(folder: Path) -> None:
    (newest(folder) / "report.html").unlink()


def _change_a_table(folder: Path) -> None:
    (newest(folder) / "summary.csv").write_text("forged")


def _start_afresh(folder: Path) -> None:
    engine = open_database(f"sqlite:///{folder / 'out/ledger.sqlite'}")
    start_fresh(engine, "tryout")
    engine.dispose()


def _choose_another_margin(folder: Path) -> None:
    assert publish_again(open_run(str(newest(folder))), Choices(margin=0.2))


def _set(name: str, value: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = newest(folder) / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))

    return change


@pytest.mark.parametrize(
    "change",
    [
        _lose_scores,
        _lose_the_report,
        _change_a_table,
        _start_afresh,
        _choose_another_margin,
        _set("status", "partial"),
        _set("packages", {"seedbed": "0.0.1"}),
        _set("git", {"commit": "0" * 40, "dirty": False}),
    ],
)
def test_what_is_not_as_it_was_written_is_made_again(copy: Path, change: Callable[[Path], None]) -> None:
    change(copy)
    assert finished_run(plan_of(copy), copy / "out") is None
