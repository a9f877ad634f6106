"""A preference against a baseline's answers: in both orders, by votes, with the reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import CellFailed, UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import open_run
from seedbed.phases.publish import Choices
from seedbed.phases.verify import verify
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan
from tests.support.cells import Prepared, prepared

CONFIG = """\
name: pairs
seeds: [0]
models: {m: {model: offline/reader}, j: {model: offline/judge, temperature: 1.0}}
roles: {judge: j}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{name: capitals, path: capitals.csv, inputs: [country], answer: capital}]
    systems:
      - {name: plain, prompt: "What is the capital of {country}?"}
      - {name: terse, prompt: "What is the capital of {country}? Answer with the name only."}
      - {name: same, prompt: "What is the capital city of {country}? Answer with the name only."}
    scorers: [{name: better, preference: "Which names the right city and nothing else?"OPTIONS}, exact]
"""
COUNTRIES = "country,capital\nFrance,Paris\nJapan,Tokyo\nPeru,Lima\nNorway,Oslo\nEgypt,Cairo\nCanada,Ottawa\n"


def write(folder: Path, options: str = "", **replaced: str) -> Path:
    (folder / "capitals.csv").write_text(COUNTRIES, encoding="utf-8")
    text = CONFIG.replace("OPTIONS", options)
    for old, new in replaced.items():
        text = text.replace(old, new)
    (folder / "pairs.yaml").write_text(text, encoding="utf-8")
    return folder / "pairs.yaml"


def plan(folder: Path, options: str = "", **replaced: str) -> Plan:
    return make_plan(*load_config(write(folder, options, **replaced)))


def finished(folder: Path, options: str = "") -> tuple[Prepared, dict[str, Any]]:
    ready = prepared(write(folder, options), folder / "out")
    try:
        for cell in ready.plan.cells:
            ready.phase(cell, "generate")
        return ready, {cell.system: ready.phase(cell, "score")["metrics"] for cell in ready.plan.cells}
    finally:
        close_runtimes()


@pytest.mark.slow
def test_both_orders_are_asked_and_every_reason_is_kept(tmp_path: Path) -> None:
    ready, found = finished(tmp_path, ", votes: 2")
    assert (found["plain"]["better"], found["plain"]["n_better"]) == (None, 0)
    assert found["terse"]["n_better"] == 6
    assert found["terse"]["better"] > 0.6
    terse = next(cell for cell in ready.plan.cells if cell.system == "terse")
    rows = [row for row in ready.rows(terse, "scores.jsonl") if "orders_agree" in row["details"]["better"]]
    votes = [row["details"]["better"]["preference_votes"] for row in rows]
    assert all(len(own) == 4 and all(reason for _, reason in own) for own in votes)
    assert {type(row["details"]["better"]["orders_agree"]) for row in rows} == {bool}
    judged = [call for call in ready.rows(terse, "lm_history.jsonl") if call["role"] == "judge"]
    assert len(judged) == len(rows) * 2 * 2 > 0
    orders = {json.dumps(call["request"]["messages"][-1]["content"]) for call in judged}
    assert len(orders) == len(rows) * 2
    run = open_run(ready.run)
    assert publish_again(run, Choices())
    assert verify(run).differences == []


@pytest.mark.slow
def test_equal_answers_are_a_tie_that_nobody_is_asked_about(tmp_path: Path) -> None:
    ready, found = finished(tmp_path, ", against: terse")
    same = next(cell for cell in ready.plan.cells if cell.system == "same")
    rows = [row for row in ready.rows(same, "scores.jsonl") if row["scores"]["better"] == 0.5]
    told = [row for row in rows if row["details"]["better"].get("preference_reason") == "both answers are the same"]
    calls = [call for call in ready.rows(same, "lm_history.jsonl") if call["role"] == "judge"]
    assert told
    assert len(calls) == 2 * (6 - len(told))
    assert found["terse"]["better"] is None
    assert found["plain"]["better"] < 0.4


def test_the_other_system_answers_first_and_its_answers_count(tmp_path: Path) -> None:
    made = plan(tmp_path)
    plain, terse, _ = made.cells
    assert (made.first(plain), made.first(terse)) == ([], [plain])
    assert ("rivals" in plain.scoring, "rivals" in terse.scoring) == (False, True)
    other = plan(tmp_path, **{'"What is the capital of {country}?"': '"Name the capital of {country}."'})
    assert other.cells[1].id == terse.id
    assert other.cells[1].key("score") != terse.key("score")
    assert plan(tmp_path, ", against: same").first(plain)[0].system == "same"


def test_nothing_is_scored_before_the_other_answers_are_there(tmp_path: Path) -> None:
    ready = prepared(write(tmp_path), tmp_path / "out")
    terse = ready.plan.cells[1]
    try:
        ready.phase(terse, "generate")
        with pytest.raises(
            CellFailed, match=r"'plain · capitals · m · seed 0', which it is compared with, has no answ"
        ):
            ready.phase(terse, "score")
        ready.phase(ready.plan.cells[0], "generate")
        assert ready.phase(terse, "score")["metrics"]["n_better"] == 6
    finally:
        close_runtimes()


def test_optimizers_do_not_learn_from_it(tmp_path: Path) -> None:
    made = plan(tmp_path)
    teaching = [scorer.name for scorer in made.resolve(made.cells[0]).scorers if scorer.teaching]
    assert teaching == ["exact"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ", against: terce",
            r"scorers\.0\.against: there is no system 'terce' in this experiment; did you mean 'terse'\?",
        ),
        (", votes: 0", r"scorers\.0\.votes: "),
        (", file: none.md", r"scorers\.0: file: 'none\.md' cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence(options: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said) as refused:
        plan(tmp_path, options)
    assert "\n" not in str(refused.value)
