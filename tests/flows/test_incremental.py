"""Edit, run again: what an edit touches runs anew, all else is Cached, and a line says why."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import Run, RunSweep
from tests.flows.test_sweep import newest_run, tasks_of
from tests.support import forked

Api = Callable[[str, dict[str, Any]], Any]

PLUGIN = """
import dspy
from seedbed import Benchmark, Case, Metric, benchmark, scorer, system

WORD = "capital"


@benchmark("crosslingual", "capitals")
def capitals(options):
    rows = [line.split(",") for line in options.path.read_text().splitlines()]
    return Benchmark("capitals", [Case(c, {"question": f"Capital of {c}?", "language": "en"}, [a]) for c, a in rows])


def asked(question):
    return f"{WORD}: {question}"


@system("crosslingual", "loud")
def loud(context, options):
    predict = dspy.Predict("question -> answer: str")

    async def answer(question, **_):
        return await predict.acall(question=asked(question))

    return answer


@system("crosslingual", "quiet")
def quiet(context, options):
    predict = dspy.Predict("question -> answer: str")

    async def answer(question, **_):
        return await predict.acall(question=question)

    return answer


@scorer("brevity", [Metric("brevity", "Words", higher_is_better=None, range=None)])
def brevity(context, case, output, options):
    return len(str(output["answer"]).split())
"""
CONFIG = """\
name: tryout
seeds: [0, 1]
plugins: [edited_plugin]
models:
  reader: {model: offline/reader, temperature: 0.7}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: capitals, path: capitals.csv}]
    systems: [loud, quiet]
    scorers: [brevity]
"""


class Desk:
    """A folder with a config and a plugin that somebody works on."""

    def __init__(self, folder: Path, run: RunSweep, api: Api) -> None:
        self.folder, self._run, self._api = folder, run, api
        self.plugin = folder / "edited_plugin.py"
        self.plugin.write_text(PLUGIN, encoding="utf-8")
        (folder / "capitals.csv").write_text("France,Paris\nJapan,Tokyo\nPeru,Lima\n", encoding="utf-8")

    def edit(self, old: str, new: str) -> None:
        text = self.plugin.read_text(encoding="utf-8")
        assert old in text
        self.plugin.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, config: str = CONFIG, *arguments: str) -> tuple[Run, dict[str, Counter[str]]]:
        """The run, and how the tasks of each system's phases ended."""
        done = self._run(config, *arguments)
        assert done.code == 0, done.err
        # A task a cell, per seed a pairing, then summary and artifacts.
        tasks = tasks_of(self._api, newest_run(self._api), 8)
        ended: dict[str, Counter[str]] = {}
        for task in tasks:
            system, _, phase = task["name"].partition(" · ")[0], "", task["name"].rpartition(" · ")[2]
            if phase in ("generate and score", "score"):
                ended.setdefault(f"{system} {phase}", Counter())[task["state_name"]] += 1
        return done, ended

    def calls(self, role: str = "task") -> int:
        """Attempts in the ledger, reused ones among them."""
        with sqlite3.connect(self.folder / "out" / "ledger.sqlite") as ledger:
            return ledger.execute("select count(*) from attempts where role = ?", (role,)).fetchone()[0]


@pytest.fixture
def desk(tmp_path: Path, run_sweep: RunSweep, api: Api) -> Desk:
    return Desk(tmp_path, run_sweep, api)


CACHED, RAN = Counter({"Cached": 2}), Counter({"Completed": 2})


def test_an_edited_system_runs_anew_and_no_other(desk: Desk) -> None:
    first, _ = desk.run()
    assert "4 cells generated and scored: new" in first.out
    before = (first.cell(0, "capitals_loud_Baseline_reader") / "cell.json").read_text()
    desk.edit('WORD = "capital"', 'WORD = "the capital"')
    again, ended = desk.run()
    assert ended == {"loud generate and score": RAN, "quiet generate and score": CACHED}
    assert "2 of 4 cells were up to date" in again.out
    assert "2 cells generated and scored again: code or options of system 'loud' have changed" in again.out
    folder = again.cell(0, "capitals_loud_Baseline_reader")
    old = folder.with_name(f"{folder.name}@{json.loads(before)['cell_id'][:8]}")
    assert (old / "predictions.jsonl").exists(), "answers of the old code are moved aside, not lost"
    runs = len(list((desk.folder / "out" / "sweeps" / "tryout").iterdir()))
    third, _ = desk.run()
    assert "4 of 4 cells were up to date, there was nothing to do" in third.out
    assert third.summary() == again.summary()
    assert len(list((desk.folder / "out" / "sweeps" / "tryout").iterdir())) == runs, "nothing was started"


def test_an_edited_scorer_scores_the_stored_answers(desk: Desk) -> None:
    first, _ = desk.run()
    calls = desk.calls()
    words = first.summary()["rows"][0]["metrics"]["brevity"]["mean"]
    desk.edit("return len(", "return 1 + len(")
    again, ended = desk.run()
    assert ended == {"loud score": RAN, "quiet score": RAN}
    assert desk.calls() == calls, "nothing is asked of the model"
    assert again.summary()["rows"][0]["metrics"]["brevity"]["mean"] == pytest.approx(words + 1)
    assert "4 cells scored again: scorers were added, removed or changed" in again.out


def test_an_added_scorer_only_scores(desk: Desk) -> None:
    desk.run(CONFIG.replace("    scorers: [brevity]\n", ""))
    calls = desk.calls()
    again, ended = desk.run()
    assert ended == {"loud score": RAN, "quiet score": RAN}
    assert desk.calls() == calls
    assert "brevity" in again.summary()["rows"][0]["metrics"]


def test_a_label_or_a_price_runs_nothing_but_the_report(desk: Desk) -> None:
    first, _ = desk.run()
    calls, before = desk.calls(), {row["label"]: row["metrics"] for row in first.summary()["rows"]}
    renamed = CONFIG.replace("systems: [loud, quiet]", "systems: [{name: loud, label: louder}, quiet]")
    priced = renamed.replace("temperature: 0.7}", "temperature: 0.7, price: {input: 1, output: 2}}")
    again, ended = desk.run(priced)
    assert set(map(str, ended.values())) == {str(CACHED)}
    assert desk.calls() == calls
    assert "4 of 4 cells were up to date" in again.out
    rows = {row["label"]: row["metrics"] for row in again.summary()["rows"]}
    assert (rows["louder"], rows["quiet"]) == (before["loud"], before["quiet"])
    assert (first.cell(0, "capitals_loud_Baseline_reader") / "metrics.json").exists(), "the old place stays"


def test_results_moved_elsewhere_work_there_and_nothing_is_made_at_the_old_place(desk: Desk, tmp_path: Path) -> None:
    desk.run()
    (tmp_path / "elsewhere").mkdir()
    old, new = desk.folder / "out", tmp_path / "elsewhere" / "results"
    for name in ("edited_plugin.py", "capitals.csv", "sweep.yaml"):
        shutil.copy(desk.folder / name, tmp_path / "elsewhere" / name)
    named = [p for p in old.rglob("*") if p.suffix in (".json", ".jsonl", ".md", ".csv", ".txt", ".html")]
    held = [p.name for p in named if str(desk.folder) in p.read_text(encoding="utf-8")]
    assert held == [], "files that hold an absolute path"
    shutil.move(old, new)

    def seedbed(*arguments: str) -> str:
        done = forked.run(
            [sys.executable, "-m", "seedbed", *arguments], capture_output=True, text=True, cwd=tmp_path / "elsewhere"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "follow" in seedbed("verify", "tryout", "--out", "results")
    assert "report.html" in seedbed("report", "tryout", "--out", "results")
    assert seedbed("compare", "tryout:loud", "tryout:quiet", "--out", "results")
    calls = _attempts(new)
    assert "4 of 4 cells were up to date" in seedbed("run", "sweep.yaml", "--out", "results")
    assert _attempts(new) == calls
    assert not old.exists()


def _attempts(root: Path) -> int:
    with sqlite3.connect(root / "ledger.sqlite") as ledger:
        return ledger.execute("select count(*) from attempts").fetchone()[0]
