"""Contests that are looked at while they grow: who is asked how far, what is on record, what is published."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.analysis.contests import Looked
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import open_run, read_run
from seedbed.phases.forecast import forecast
from seedbed.phases.growing import growing
from seedbed.phases.looks import families, looked, looks_note
from seedbed.phases.standing import standing
from seedbed.phases.verify import verify
from seedbed.storage.store import read_json
from tests.support.cells import Prepared, prepared

CONFIG = """\
name: grows
seeds: [0, 1]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, n: 300}]
    systems:
      - {name: guess, label: base, skill: 0.5}
      - {name: guess, label: strong, skill: 0.95}
      - {name: guess, label: weak, skill: 0.05}
      - {name: guess, label: same, skill: 0.5001}
    decide: {metric: right, difference: 0.1}
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _ready(folder: Path, config: str = CONFIG) -> Prepared:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grows.yaml").write_text(config, encoding="utf-8")
    return prepared(folder / "grows.yaml", folder / "out")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    ready = _ready(tmp_path_factory.mktemp("grown"))
    ready.finish()
    return ready


def _asked(ready: Prepared) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for cell in ready.plan.cells:
        found.setdefault(cell.label, set()).add(len(ready.rows(cell, "scores.jsonl")))
    return found


def _looks(ready: Prepared) -> list[dict[str, Any]]:
    folder = ready.root / "experiment_runs" / "looks" / "grows"
    return [read_json(path) for path in sorted(folder.iterdir())]


def test_a_decided_contest_asks_no_further_sample_and_the_baseline_goes_on(grown: Prepared) -> None:
    asked = _asked(grown)
    assert all(len(counts) == 1 for counts in asked.values()), "seeds are asked alike"
    n = {label: counts.pop() for label, counts in asked.items()}
    assert n["strong"] < 150
    assert n["weak"] < 150
    assert n["base"] == max(n["strong"], n["weak"], n["same"])
    assert n["base"] > n["strong"]
    last = {entry["label"]: entry for entry in _looks(grown)[-1]["contests"]}
    assert (last["strong"]["decision"], last["weak"]["decision"]) == ("better", "worse")
    assert last["same"]["decision"] == "futile"


def test_all_systems_are_asked_the_same_cases_in_whole_clusters(grown: Prepared) -> None:
    cells = {cell.label: cell for cell in grown.plan.cells if cell.seed == 0}
    strong, base = (
        [row["sample_id"] for row in grown.rows(cells[name], "scores.jsonl")] for name in ("strong", "base")
    )
    assert set(strong) < set(base)
    assert strong == sorted(strong), "rows stand in the order of the benchmark"
    numbers = [int(sample[1:]) for sample in strong]
    assert all((n ^ 1) in numbers for n in numbers), "two cases a cluster"
    assert max(numbers) > 200, "and not the first ones of the file"


def test_what_was_not_asked_is_in_no_figure(grown: Prepared) -> None:
    summary = read_json(Path(grown.run) / "summary.json")
    rows = {row["label"]: row for row in summary["rows"]}
    n = len(grown.rows(next(c for c in grown.plan.cells if c.label == "strong"), "scores.jsonl"))
    assert rows["strong"]["n"] + rows["strong"]["n_errors"] == 2 * n
    assert rows["strong"]["n_skipped"] == 0
    compared = {c["label"]: c for c in summary["comparisons"] if c["metric"] == "right"}
    assert compared["strong"]["stopped"] == f"stopped at {n} of 300: decided (better)"
    assert compared["strong"]["verdict"] == "better"
    assert compared["weak"]["verdict"] == "worse"
    assert compared["same"]["verdict"] not in ("better", "worse")
    assert compared["strong"]["test"] == "sequential"
    text = (Path(grown.run) / "summary.md").read_text(encoding="utf-8")
    assert f"stopped at {n} of 300: decided by right (better)" in text
    assert "samples that were not asked are in no figure" in text


def test_published_p_and_intervals_account_for_the_looks(grown: Prepared) -> None:
    summary = read_json(Path(grown.run) / "summary.json")
    strong = next(c for c in summary["comparisons"] if (c["metric"], c["label"]) == ("right", "strong"))
    record = next(e for e in _looks(grown)[-1]["contests"] if e["label"] == "strong")
    assert strong["p"] == record["p"]
    half = (strong["ci_high"] - strong["ci_low"]) / 2
    assert half > 2.4 * record["seen"][-1]["error"], "two standard errors are of a single look"
    digits = next(c for c in summary["comparisons"] if (c["metric"], c["label"]) == ("digits", "strong"))
    assert digits["stopped"] == strong["stopped"].replace("decided", "decided by right")
    assert digits["p"] > 1e-4, "its p is that of sign flips, at the look that it came to"


def test_a_run_that_goes_on_takes_the_same_looks(grown: Prepared, tmp_path: Path) -> None:
    """Stopped after every look, in the middle of a cell's phases too."""
    ready = _ready(tmp_path)
    group = growing(open_run(ready.run))[0]
    ready.look_after_look(group, 1)
    cell = ready.plan.cells[0]
    for left_behind in ("score.json", "generate.json"):
        (ready.folder(cell) / "done" / left_behind).unlink()
        ready = _ready(tmp_path)
        ready.look_after_look(group, 2)
    ready.finish()
    assert _asked(ready) == _asked(grown)
    assert [record["contests"] for record in _looks(ready)] == [record["contests"] for record in _looks(grown)]
    again = _ready(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (ready.root / "experiment_runs").rglob("*.jsonl")}
    again.finish()
    assert {path: path.stat().st_mtime_ns for path in before} == before, "nothing was asked again"


def test_verify_takes_every_look_again(grown: Prepared, tmp_path: Path) -> None:
    assert verify(read_run(Path(grown.run)), again=True).differences == []
    shutil.copytree(grown.root.parent, tmp_path / "moved")
    root = tmp_path / "moved" / "out"
    path = root / "experiment_runs" / "looks" / "grows" / "toy_right_02.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["contests"][0]["seen"][-1]["z"] += 0.5
    path.write_text(json.dumps(data), encoding="utf-8")
    told = [
        str(difference)
        for difference in verify(read_run(root / "sweeps" / "grows" / Path(grown.run).name), again=False).differences
    ]
    assert any("toy_right_02.json" in line and "z" in line for line in told), told
    path.with_name("toy_right_01.json").write_text("{", encoding="utf-8")
    told = [str(one) for one in verify(read_run(root / "sweeps" / "grows" / Path(grown.run).name)).differences]
    assert any("toy_right_01.json: cannot be checked" in line for line in told), told


def test_without_decide_all_cases_are_asked(grown: Prepared, tmp_path: Path) -> None:
    ready = _ready(tmp_path, CONFIG.replace("    decide: {metric: right, difference: 0.1}\n", "").replace("300", "60"))
    ready.finish()
    assert set.union(*_asked(ready).values()) == {60}
    keys = {cell.label: cell.key("generate") for cell in ready.plan.cells}
    short = _ready(tmp_path / "short", CONFIG.replace("300", "60"))
    assert keys != {cell.label: cell.key("generate") for cell in short.plan.cells}, (
        "a partial answer is never taken for all"
    )


@pytest.mark.parametrize(
    ("decide", "told"),
    [
        ("{metric: rigth, difference: 0.1}", "did you mean 'right'"),
        ("{metric: f1, difference: 0.1}", "figure of the whole cell"),
        ("{metric: right, difference: 2}", "runs from 0 to 1, so no difference is above 1"),
        ("{metric: right, difference: 0}", "greater than 0"),
        ("{metric: right, difference: 0.1, looks: 1}", "greater than or equal to 2"),
    ],
)
def test_what_cannot_be_decided_is_refused(tmp_path: Path, decide: str, told: str) -> None:
    from seedbed.errors import UserError

    with pytest.raises(UserError, match=told):
        _ready(tmp_path, CONFIG.replace("{metric: right, difference: 0.1}", decide))


def test_one_seed_of_a_system_that_seeds_make_is_refused(tmp_path: Path) -> None:
    from seedbed.errors import UserError

    one = CONFIG.replace("seeds: [0, 1]", "seeds: [0]")
    made = one.replace("skill: 0.95}", "skill: 0.95, seed_changes_system: true}")
    with pytest.raises(UserError, match="one seed of 'strong' says nothing of the next"):
        _ready(tmp_path, made)
    assert _ready(tmp_path, one).plan.cells


ASKED = CONFIG.replace("n: 300", "n: 40").replace("skill: 0.5}", "skill: 0.5}\n      - {name: ask, label: asked}")


def test_a_forecast_begins_at_the_first_look_and_a_contest_that_is_open_is_not_finished(tmp_path: Path) -> None:
    ready = _ready(tmp_path, ASKED)
    asked = next(cell for cell in ready.plan.cells if cell.label == "asked")
    calls = forecast(ready.plan, ready.root).cells[asked.id].new_calls
    assert calls.low <= calls.likely / 10
    ready.look_after_look(growing(open_run(ready.run))[0], 1)
    left = forecast(ready.plan, ready.root).cells[asked.id]
    assert (left.known_calls, left.new_calls.likely) == (4, 36)
    assert left.new_calls.low == 0, "the next look may decide it"
    ready.finish()
    assert forecast(ready.plan, ready.root).cells[asked.id].new_calls.high == 0


def test_a_cell_whose_contest_is_open_is_at_work_and_one_that_stopped_has_what_it_was_asked(tmp_path: Path) -> None:
    ready = _ready(tmp_path, CONFIG.replace("n: 300", "n: 120"))
    ready.look_after_look(growing(open_run(ready.run))[0], 1)
    early = standing(open_run(ready.run))
    assert early.counts["running"] == len(ready.plan.cells)
    assert early.samples == (8 * 12, 8 * 120)
    ready.finish()
    late = standing(open_run(ready.run))
    asked = sum(len(ready.rows(cell, "scores.jsonl")) for cell in ready.plan.cells)
    assert (late.counts["done"], late.samples) == (len(ready.plan.cells), (asked, asked))


def test_a_few_failures_of_a_first_look_do_not_give_a_cell_up(tmp_path: Path) -> None:
    """Two of four samples of a system fail; of all its samples one in twenty-five does."""
    ready = _ready(tmp_path, CONFIG.replace("n: 300", "n: 40"))
    ready.look_after_look(growing(open_run(ready.run))[0], 1)
    cells = [cell for cell in ready.plan.cells if cell.label == "strong"]
    statuses = [row["status"] for cell in cells for row in ready.rows(cell, "scores.jsonl")]
    assert statuses.count("error") == 2


def test_the_end_of_a_contest_is_told_with_its_reason_once(grown: Prepared) -> None:
    run = open_run(str(grown.run))
    (group,) = growing(run)
    told = [line for look in range(1, group.looks + 1) for line in group.look(run, look)]
    assert len(told) == 3
    assert any(
        re.match(r"strong against base on sums with reader: decided \(better\) after \d+ of 300", line) for line in told
    )


def test_the_note_counts_the_contests_that_have_ended() -> None:
    looks = {
        (label,): Looked("right", 4, [], decision, 50, 300)
        for label, decision in (("a", "better"), ("b", "go on"), ("c", "futile"))
    }
    (note,) = looks_note(looks)
    assert "2 of 3 have ended, after 150 of 900 samples a seed" in note


def test_where_low_is_good_the_higher_system_is_the_worse(grown: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(str(grown.run))
    turned = [replace(own, metric=replace(own.metric, higher_is_better=False)) for own in families(run.plan)]
    monkeypatch.setattr("seedbed.phases.looks.families", lambda _: turned)
    found = {names[3]: own.decision for names, own in looked(run.store, run.plan).items()}
    assert found == {"strong": "worse", "weak": "better", "same": "futile"}
