"""Samples of a cell over several processes: the same files as from one, and one process where several cannot be."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import seedbed
from seedbed.errors import BudgetReached, UserError
from seedbed.lm.ledger.database import sqlite_url
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import CellContext, open_run
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.phases.spread import _processes  # pyright: ignore[reportPrivateUsage]
from seedbed.storage.yamlfile import YamlFile
from seedbed.sweep.config import check_config
from seedbed.sweep.plan import make_plan
from tests.support.cells import Prepared, prepared
from tests.support.loopback import Loopback
from tests.support.spreading import SPREAD, held_until_writers, rows, spread_config, writers
from tests.support.sweeps import OFFLINE

pytestmark = pytest.mark.slow


def _sweep(folder: Path, server: Loopback, *overrides: str) -> Prepared:
    return prepared(spread_config(folder, server), folder / "out", list(overrides))


def _ledger(sweep: Prepared) -> str:
    return sqlite_url(sweep.root / "ledger.sqlite")


def _generated(sweep: Prepared) -> list[tuple[bytes, dict[str, Any]]]:
    """Of every cell: its answers, and its account."""
    try:
        found: list[tuple[bytes, dict[str, Any]]] = []
        for cell in sweep.plan.cells:
            result = sweep.phase(cell, "generate")
            told = {name: value for name, value in result.items() if name != "execution"}
            found.append(((sweep.folder(cell) / "predictions.jsonl").read_bytes(), told))
        return found
    finally:
        close_runtimes()


@dataclass(frozen=True)
class _Both:
    one: list[tuple[bytes, dict[str, Any]]]
    three: list[tuple[bytes, dict[str, Any]]]
    asked_by_one: Counter[str]
    asked_by_three: Counter[str]
    ledger: str


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> _Both:
    """The same cells by one process and by three."""
    folder = tmp_path_factory.mktemp("both")
    with Loopback(faults={"empty": 0.1}, latency_s=0.05) as server:
        one = _generated(_sweep(folder / "one", server))
        asked = server.books.by_body.copy()
        server.books.by_body.clear()
        spread = _sweep(folder / "three", server, SPREAD)
        server.watch = held_until_writers(_ledger(spread), 3)
        three = _generated(spread)
    return _Both(one, three, asked, server.books.by_body, _ledger(spread))


def test_answers_and_account_of_three_processes_are_those_of_one(both: _Both) -> None:
    assert writers(both.ledger) > 1
    assert both.three == both.one


def test_three_processes_ask_each_request_as_often_as_one(both: _Both) -> None:
    assert both.asked_by_three == both.asked_by_one


def test_a_process_that_helped_signs_off_from_the_ledger(both: _Both) -> None:
    helped = "SELECT id FROM owners WHERE seen_at > 0 AND id IN (SELECT owner FROM attempts)"
    assert rows(both.ledger, helped) == []


def test_samples_of_the_offline_model_may_be_spread(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(OFFLINE.replace("limit: 6", "limit: 20"), encoding="utf-8")
    one = _generated(prepared(config, tmp_path / "one", ["seeds=[0]"]))
    assert _generated(prepared(config, tmp_path / "two", ["seeds=[0]", SPREAD])) == one


def test_a_budget_that_is_reached_stops_all_processes_below_the_cap(tmp_path: Path) -> None:
    with Loopback() as server:
        sweep = _sweep(tmp_path / "s", server, SPREAD, "budget={max_usd: 0.03}")
        server.watch = held_until_writers(_ledger(sweep), 3)
        with pytest.raises(BudgetReached, match=r"past \$0\.03"):
            _generated(sweep)
        [(spent, paid)] = rows(_ledger(sweep), "SELECT SUM(spent_usd), COUNT(*) FROM attempts WHERE outcome = 'paid'")
    assert 0 < spent <= 0.03
    assert paid == server.books.requests


@pytest.mark.parametrize(
    "overrides",
    [
        ["models.m.limits={concurrency: 1}"],
        ["models.m.limits={start: 4, concurrency: 64}"],
        ["models.m.service=batch"],
        ["experiments.0.benchmarks.0.limit=8"],
        ["runner={kind: threads}"],
    ],
    ids=["one call at once", "calls at once are searched", "batches", "few samples", "not asked for"],
)
def test_a_cell_stays_in_one_process_where_several_cannot_help(tmp_path: Path, overrides: list[str]) -> None:
    with Loopback() as server:
        sweep = _sweep(tmp_path / "s", server, SPREAD, *overrides)
        context = CellContext(open_run(sweep.run), sweep.plan.cells[0], "generate")
        assert _processes(context, len(context.benchmark.test)) == 1


def test_processes_on_a_cluster_are_refused(tmp_path: Path) -> None:
    with Loopback() as server, pytest.raises(UserError, match="field runner: processes belongs to kind: threads"):
        _sweep(tmp_path / "s", server, "runner={kind: dask, processes: 2}")


_TOLD = threading.Event()


def waits_for_the_other(country: str) -> str:
    assert _TOLD.wait(200)
    return country.upper()


class _Hears(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if "answered in one process" in record.getMessage():
            _TOLD.set()


def test_functions_of_a_notebook_are_answered_in_their_own_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = [{"country": f"c{n}", "answer": f"C{n}"} for n in range(20)]
    config = {**seedbed.Experiment(cases, [waits_for_the_other]).config(), "runner": {"processes": 2}}
    source = YamlFile(Path("the config"), config, {})
    plan = make_plan(check_config(source), source)
    hears = _Hears()
    logging.getLogger("seedbed").addHandler(hears)
    try:
        result = run_phase(str(prepare(plan, tmp_path / "out")), plan.cells[0].id, "generate")
    finally:
        logging.getLogger("seedbed").removeHandler(hears)
        close_runtimes()
    assert (result["n"], result["n_errors"]) == (20, 0)
