"""`seedbed plan` against what a run then takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bench.plan_check import CONFIGS, check
from seedbed.cli.main import main
from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.forecast import forecast
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan
from tests.support.cells import prepared
from tests.support.lm import runtime, scope
from tests.support.loopback import Loopback

pytestmark = pytest.mark.slow

PLUGIN = """
import dspy
from seedbed import system

@system("crosslingual", "edited", calls_per_case={calls})
def edited(context, options):
    ask = dspy.Predict(dspy.Signature("question, context -> answer", "{words}"))
    check = dspy.Predict("question, draft -> answer")

    async def answer(question, **more):
        found = await ask.acall(question=question, context=str(more)[:400])
        if {calls} == 1:
            return found
        return await check.acall(question=question, draft=found.answer)

    return answer
"""
CONFIG = """
name: edits
seeds: [0, 1]
plugins: [{module}]
models:
  m: {{model: offline/reader, temperature: {temperature}}}
{more}
experiments:
  - suite: crosslingual
    models: [m]
    benchmarks: [{{name: tiny, limit: 8}}]
    systems: [edited]
"""


class Lab:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, calls: int, temperature: float) -> None:
        self.folder, self.calls, self.temperature = folder, calls, temperature
        self.number = 0
        monkeypatch.syspath_prepend(str(folder))

    def write(self, words: str, more: str = "") -> Path:
        # A module of its own each time: Python keeps those it has read.
        self.number += 1
        module = f"edits_{self.calls}_{self.number}"
        (self.folder / f"{module}.py").write_text(PLUGIN.format(words=words, calls=self.calls))
        config = self.folder / "edits.yaml"
        config.write_text(CONFIG.format(module=module, temperature=self.temperature, more=more))
        return config

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def plan(self, config: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
        assert main(["plan", str(config), "--out", str(self.out), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def run(self, config: Path) -> tuple[int, float]:
        """Paid calls and their dollars."""
        ready = prepared(config, self.out)
        found = [ready.phase(cell, phase)["usage"] for cell in ready.plan.cells for phase in ("generate",)]
        for cell in ready.plan.cells:
            ready.phase(cell, "score")
        close_runtimes()
        return sum(usage["outcomes"]["paid"] for usage in found), sum(usage["spent_usd"] for usage in found)


def test_after_an_edit_new_calls_are_exact_for_a_system_of_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path, monkeypatch, 1, 0.5)
    first = lab.write("Answer shortly.")
    guess = lab.plan(first, capsys)["total"]
    calls, usd = lab.run(first)
    assert guess["basis"] == "assumed"
    assert guess["new_calls"]["low"] <= calls <= guess["new_calls"]["high"]
    assert guess["usd"]["low"] <= usd <= guess["usd"]["high"]
    assert lab.plan(first, capsys)["total"]["new_calls"]["likely"] == 0
    edited = lab.write("Answer briefly.")
    guess = lab.plan(edited, capsys)["total"]
    calls, usd = lab.run(edited)
    assert guess["new_calls"]["likely"] == calls == 16
    assert guess["usd"]["likely"] == pytest.approx(usd, rel=0.25)
    assert guess["usd"]["low"] <= usd <= guess["usd"]["high"]
    # The first words again: all of it is on record, though no file of it is left in the cells' folders.
    again = lab.plan(lab.write("Answer shortly."), capsys)["total"]
    assert (again["known_calls"], again["new_calls"]["likely"]) == (16, 0)


def test_seeds_that_share_their_answers_are_new_once_and_second_steps_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path, monkeypatch, 2, 0.0)
    calls, _ = lab.run(lab.write("Answer shortly."))
    assert calls == 16
    edited = lab.write("Answer briefly.")
    guess = lab.plan(edited, capsys)["total"]
    calls, usd = lab.run(edited)
    assert guess["new_calls"]["low"] <= calls <= guess["new_calls"]["high"]
    assert guess["usd"]["low"] <= usd <= guess["usd"]["high"]


def test_a_budget_that_cannot_hold_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path, monkeypatch, 1, 0.5)
    config = lab.write("Answer shortly.", "budget: {max_usd: 0.0000001}")
    assert main(["run", str(config), "--out", str(lab.out)]) == 2
    assert "field budget.max_usd: $1e-07 cannot hold" in capsys.readouterr().err
    assert not lab.out.exists()


def test_planning_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path, monkeypatch, 1, 0.5)
    config = lab.write("Answer shortly.")
    lab.plan(config, capsys)
    assert not lab.out.exists()
    lab.run(config)
    before = _files(lab.out)
    lab.plan(lab.write("Answer briefly."), capsys)
    assert _files(lab.out) == before


def _files(folder: Path) -> dict[str, int]:
    """Times of all files; of the ledger, whose file SQLite tidies up when it is closed, the number of rows."""
    engine = open_database(sqlite_url(folder / "ledger.sqlite"))
    with reading(engine) as connection:
        rows = {table: connection.scalar(text(f"SELECT count(*) FROM {table}")) for table in ("attempts", "owners")}
    engine.dispose()
    made = (path for path in folder.rglob("*") if path.is_file() and "ledger.sqlite" not in path.name)
    return {str(path): path.stat().st_mtime_ns for path in made} | rows


def test_without_history_the_range_holds_what_a_shipped_config_takes(tmp_path: Path) -> None:
    """Cases that share their translated documents take far fewer calls than the suite declares."""
    outside = [str(checked) for checked in check(CONFIGS / "nightly.yaml", tmp_path / "out") if not checked.holds]
    assert not outside


PROBED = """
name: probed
seeds: [0]
models:
  m: {{model: openai/loop, api_base: {url}, price: {{input: 1, output: 1}}}}
experiments:
  - suite: crosslingual
    models: [m]
    benchmarks: [{{name: tiny, limit: 8}}]
    systems: [direct]
"""


def test_the_time_of_calls_is_that_which_a_probe_measured(tmp_path: Path) -> None:
    (tmp_path / "probes").mkdir()
    with Loopback() as server:
        (tmp_path / "probed.yaml").write_text(PROBED.format(url=server.url), encoding="utf-8")
        with runtime(tmp_path / "probes", server) as made:
            made.lm(scope(sweep="doctor", role="probe", model="m"))("hello")
    loaded, source = load_config(tmp_path / "probed.yaml")
    plan = make_plan(loaded, source)
    ledger = tmp_path / "probes" / "ledger.sqlite"
    engine = open_database(sqlite_url(ledger))
    with engine.begin() as connection:  # as a probe has it, whose model has no name of a config
        connection.execute(text("UPDATE attempts SET model = 'openai/loop', latency_s = 50"))
    engine.dispose()
    unknown, found = forecast(plan, tmp_path / "out"), forecast(plan, tmp_path / "out", probes=ledger)
    assert found.took == {"m": [50.0]}
    calls = found.total.new_calls
    # Four at once, on this machine.
    assert (found.total.seconds.low, found.total.seconds.high) == (calls.low * 50 / 4, calls.high * 50 / 4)
    assert unknown.total.seconds.high == calls.high * 10 / 4
