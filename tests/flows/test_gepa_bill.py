"""configs/gepa.yaml as a whole over an endpoint that keeps its own books: what evaluation_result.txt says, what the
ledger holds and what the endpoint charged are the same, to the token.

An endpoint knows paid calls only, while evaluation_result.txt says what a fresh run of the cell would pay. Both meet
request by request: a phase's figures are what the endpoint charged for each distinct request that the phase got an
answer to, paid there or reused; and over the sweep they are the endpoint's bill plus what was reused from other cells.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pandas
import pytest
from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from tests.flows.conftest import Run, RunSweep
from tests.support.offline_server import Bill, OfflineServer, body_name

CONFIG = Path(__file__).resolve().parents[2] / "configs" / "gepa.yaml"
PRICE = {"input": 0.4, "output": 1.6}
SMALL = "max_train: 4, max_val: 4, limit: 4"
SETTINGS = (
    "seeds=[0, 1]",
    f"experiments.0.benchmarks=[{{name: HotpotQABench, {SMALL}}}]",
    f"experiments.1.benchmarks=[{{name: IFBench, {SMALL}}}]",
    f"experiments.2.benchmarks=[{{name: AIMEBench, {SMALL}, repeats: 2}}]",
    # One cell reuses what another paid for, so that paid and list figures differ.
    "experiments.2.optimizers=[Baseline, GEPA-5, {name: MIPROv2-Light, use_cache_from: GEPA-5}]",
)
"""The config in all its dimensions, with fewer cases."""
PHASES = {"generate": "", "optimise": "optimizer_"}
"""Phase -> what the names of its columns begin with."""


@dataclass(frozen=True)
class Books:
    """The sweep as all three kept it."""

    bill: Bill
    results: dict[str, Any]
    """By cell id: the row of evaluation_result.txt."""
    attempts: list[Any]
    names: dict[str, str] = field(repr=False)
    """Key of a request -> the name under which the endpoint keeps its body."""

    def answered(self, cell: str, phase: str) -> dict[str, Any]:
        """The distinct requests that a phase got an answer to: key -> a row of the ledger."""
        return {a.key: a for a in self.attempts if (a.cell, a.phase) == (cell, phase)}

    def phases(self) -> Iterator[tuple[str, str, Any]]:
        """Cell, phase, and tokens in, tokens out and dollars of the phase as evaluation_result.txt has them."""
        for cell, row in self.results.items():
            for phase, prefix in PHASES.items():
                if f"{prefix}cost" in row:
                    yield cell, phase, [row[f"{prefix}{name}"] for name in ("input_tokens", "output_tokens", "cost")]


def _usd(tokens_in: int, tokens_out: int) -> float:
    return (tokens_in * PRICE["input"] + tokens_out * PRICE["output"]) / 1e6


def _results(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in run.root.glob("experiment_runs/seed_*/*/evaluation_results/evaluation_result.txt"):
        cell = json.loads((path.parents[1] / "cell.json").read_text(encoding="utf-8"))["cell_id"]
        found[cell] = pandas.read_csv(path, index_col=False).iloc[0]
    return found


@pytest.fixture(scope="module")
def books(module_sweep: RunSweep) -> Books:
    with OfflineServer() as server:
        model = f"{{model: openai/served, api_base: '{server.url}', temperature: 0.7, price: {json.dumps(PRICE)}}}"
        given = [part for setting in (f"models.small={model}", *SETTINGS) for part in ("--set", setting)]
        run = module_sweep(CONFIG.read_text(encoding="utf-8"), *given)
        assert run.code == 0, run.err + run.out[-2000:]
    engine = open_database(sqlite_url(run.root / "ledger.sqlite"))
    with reading(engine) as connection:
        attempts = list(connection.execute(text("SELECT * FROM attempts")))
        bodies = list(connection.execute(text("SELECT key, body FROM requests")).tuples())
    engine.dispose()
    sent = {key: orjson.dumps({**orjson.loads(zlib.decompress(body)), "model": "served"}) for key, body in bodies}
    return Books(server.bill, _results(run), attempts, {key: body_name(raw) for key, raw in sent.items()})


def test_every_cell_of_the_config_has_its_row(books: Books) -> None:
    assert len(books.results) == 3 * 3 * 2
    optimizers = Counter(row.get("optimizer", "Baseline") for row in books.results.values())
    assert optimizers == {"Baseline": 6, "GEPA-5": 6, "MIPROv2-Light": 6}


def test_the_ledger_paid_what_the_endpoint_charged(books: Books) -> None:
    paid = [a for a in books.attempts if a.outcome == "paid"]
    assert {a.outcome for a in books.attempts} <= {"paid", "reused"}
    assert Counter(books.names[a.key] for a in paid) == books.bill.by_body
    assert sum(a.tokens_in for a in paid) == books.bill.tokens_in
    assert sum(a.tokens_out for a in paid) == books.bill.tokens_out
    expected = _usd(books.bill.tokens_in, books.bill.tokens_out)
    assert sum(a.spent_usd for a in paid) == pytest.approx(expected, abs=1e-9, rel=0)


def test_every_phase_of_every_cell_says_what_the_endpoint_charges_for_its_requests(books: Books) -> None:
    totals: Counter[str] = Counter()
    for cell, phase, (tokens_in, tokens_out, cost) in books.phases():
        answered = books.answered(cell, phase)
        charged = [books.bill.charged[books.names[key]] for key in answered]
        assert tokens_in == sum(c[0] for c in charged) == sum(a.tokens_in for a in answered.values())
        assert tokens_out == sum(c[1] for c in charged) == sum(a.tokens_out for a in answered.values())
        assert cost == pytest.approx(_usd(tokens_in, tokens_out), abs=1e-9, rel=0)
        assert cost == pytest.approx(sum(a.list_usd for a in answered.values()), abs=1e-9, rel=0)
        totals[phase] += tokens_in
    assert min(totals["optimise"], totals["generate"]) > 0


def test_the_rows_add_up_to_the_bill_and_what_was_reused_from_other_cells(books: Books) -> None:
    listed = [sum(values) for values in zip(*(figures for _, _, figures in books.phases()), strict=True)]
    reused = [0, 0]
    for cell, phase, _ in books.phases():
        paid = {a.key for a in books.attempts if (a.cell, a.phase, a.outcome) == (cell, phase, "paid")}
        for key, attempt in books.answered(cell, phase).items():
            if key not in paid:
                reused[0] += attempt.tokens_in
                reused[1] += attempt.tokens_out
    assert reused[0] > 0, "a cell that uses another's answers is part of this sweep"
    total_in, total_out = books.bill.tokens_in + reused[0], books.bill.tokens_out + reused[1]
    assert listed[:2] == [total_in, total_out]
    assert listed[2] == pytest.approx(_usd(total_in, total_out), abs=1e-9, rel=0)
