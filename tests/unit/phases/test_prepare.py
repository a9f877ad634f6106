"""The folder of a run: what every task reads from it, and what is refused before it is made."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database
from seedbed.phases import prepare as module
from seedbed.phases.prepare import prepare
from seedbed.storage.store import read_json
from tests.support.stored import Stored, stored

CONFIG = """\
name: toys
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: openai/nobody-knows, price: PRICE}}
budget: BUDGET
ledger: LEDGER
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, n: 6}, {name: sums, label: more, n: 8}]
    systems: [{name: guess, label: LABEL, skill: 0.1}]
"""
PRICED = "{input: 1.0, output: 2.0}"


def sweep(folder: Path, *, budget: str = "{}", price: str = "null", ledger: str = "null", label: str = "a") -> Stored:
    config = CONFIG.replace("BUDGET", budget).replace("PRICE", price).replace("LEDGER", ledger)
    return stored(folder, config.replace("LABEL", label))


def run(made: Stored, **how: Any) -> Path:
    return prepare(made.plan, made.store.root, **how)


def settings(folder: Path) -> dict[str, Any]:
    return {name: value for name, value in read_json(folder / "run.json").items() if name != "schema_version"}


def test_a_run_has_a_folder_with_its_plan_and_how_it_was_started(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    folder = run(made)
    assert folder.parent == made.store.root / "sweeps" / "toys"
    assert folder == made.store.newest("toys")
    assert settings(folder) == {
        "config_dir": "..", "generation": 0, "replay": False, "rescore": False,
        "sizes": {"0:sums": 6, "0:more": 8},
    }  # fmt: skip
    assert (folder.parent / "latest").read_text(encoding="utf-8") == f"{folder.name}\n"
    again = run(made, replay=True, rescore=True)
    assert (settings(again)["replay"], settings(again)["rescore"]) == (True, True)
    assert folder.name < again.name, "names sort by time"
    assert folder.name.startswith(time.strftime("%Y%m%dT", time.gmtime()))


def test_a_fresh_start_is_a_generation_of_its_own(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    assert [settings(run(made, fresh=fresh))["generation"] for fresh in (False, True, False)] == [0, 1, 1]


def test_the_ledger_lies_where_the_config_says_and_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    closed: list[Engine] = []

    def open_it(url: str) -> Engine:
        opened.append(url)
        engine = open_database(url)
        dispose = engine.dispose
        engine.dispose = lambda *_: (closed.append(engine), dispose())[1]  # type: ignore[method-assign]
        return engine

    monkeypatch.setattr(module, "open_database", open_it)
    elsewhere = f"sqlite:///{tmp_path}/elsewhere.sqlite"
    run(sweep(tmp_path / "own"))
    run(sweep(tmp_path / "named", ledger=elsewhere))
    assert opened == [f"sqlite:///{tmp_path}/own/out/ledger.sqlite", elsewhere]
    assert (tmp_path / "elsewhere.sqlite").exists()
    assert len(closed) == 2


def test_only_who_scores_again_forgets_scores(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    cells = made.plan.cells
    for cell in cells:
        made.answered(cell)
        made.scored(cell, [])
    run(made)
    assert [made.store.done(cell, "score", cell.key("score"), 0) is not None for cell in cells] == [True, True]
    run(made, rescore=True)
    assert [made.store.done(cell, "score", cell.key("score"), 0) for cell in cells] == [None, None]
    assert [made.store.done(cell, "generate", cell.key("generate"), 0) is not None for cell in cells] == [True, True]


def test_cells_under_a_new_label_are_taken_along(tmp_path: Path) -> None:
    before = sweep(tmp_path)
    before.answered(before.plan.cells[0], [{"sample_id": "a"}])
    run(before)
    now = sweep(tmp_path, label="b")
    run(now)
    assert (now.folder(now.plan.cells[0]) / "predictions.jsonl").read_text() == '{"sample_id": "a"}\n'


def test_where_the_data_is_gone_nobody_is_told_how_much_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sweep(tmp_path)

    def gone(*_: object) -> None:
        raise UserError("no such file")

    monkeypatch.setattr(type(made.plan), "benchmark", gone)
    assert settings(run(made))["sizes"] == {}


@pytest.mark.parametrize("budget", ["{max_usd: 1.0}", "{max_usd_per_cell: 1.0}"])
def test_a_cap_in_dollars_needs_a_price(tmp_path: Path, budget: str) -> None:
    blind = sweep(tmp_path, budget=budget)
    with pytest.raises(
        UserError, match=r"field budget: the price of model 'reader' \(openai/nobody-knows\) is unknown"
    ):
        run(blind)
    assert not (blind.store.root / "sweeps").exists()
    assert run(sweep(tmp_path, budget=budget, price=PRICED)).exists()


def test_without_a_cap_a_price_may_be_unknown(tmp_path: Path) -> None:
    assert run(sweep(tmp_path)).exists()
