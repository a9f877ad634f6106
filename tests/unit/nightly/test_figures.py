"""What a baseline remembers of a run beside its scores: samples with their errors, dollars, the time calls took."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.ledger import Begin, End, Granted, Ledger
from seedbed.lm.ledger.reads import paid_latencies
from seedbed.lm.types import Usage
from seedbed.nightly.baseline import _figures, results  # type: ignore[attr-defined]
from seedbed.phases.context import open_run
from tests.support.lm import ledger_url, scope


def test_the_samples_of_a_run_are_all_that_were_asked_those_that_failed_too(toy_run: Path) -> None:
    (entry,) = results(open_run(str(toy_run)))
    assert {label: own.n_samples for label, own in entry.figures.items()} == dict.fromkeys(entry.figures, 24 * 2)
    failed = {label: own.n_errors for label, own in entry.figures.items()}
    assert max(failed.values()) > 0, "the toy suite has some"
    assert entry.figures["weak"].error_share == failed["weak"] / 48


def test_one_unknown_price_makes_the_dollars_of_a_system_unknown(toy_run: Path) -> None:
    (entry,) = results(open_run(str(toy_run)))
    table = entry.table
    known = _figures(table, "ask", {})
    assert known.list_usd is not None
    assert known.list_usd > 0
    seeds: dict[int, Any] = dict(table.seeds["ask"])
    own = seeds[1]
    usage = {**own["usage"], "score": {**own["usage"]["score"], "list_usd": None}}
    blind = replace(table, seeds={**table.seeds, "ask": seeds | {1: {**own, "usage": usage}}})
    figures = _figures(blind, "ask", {})
    assert figures.list_usd is None
    assert figures.tokens == known.tokens


def test_the_latency_of_a_cell_is_that_of_its_answers_paid_since_the_fresh_start(tmp_path: Path) -> None:
    async def call(ledger: Ledger, key: str, took: float, outcome: Any, **changes: Any) -> None:
        begin = Begin(scope(**changes), key, 1, None, b"{}", 0.0, ())
        granted = await ledger.begin(begin)
        assert isinstance(granted, Granted)
        await ledger.end(End(granted.attempt_id, begin, outcome, Usage(1, 1), 0.0, 0.0, 0.0, took, response=None))

    async def work(ledger: Ledger) -> None:
        await call(ledger, "answer", 1.0, "paid", generation=1)
        await call(ledger, "judge", 20.0, "paid", generation=1, phase="score")
        await call(ledger, "search", 30.0, "paid", generation=1, phase="optimise")
        await call(ledger, "refused", 40.0, "failed", generation=1)
        await call(ledger, "before", 50.0, "paid")

    ledger = Ledger(ledger_url(tmp_path), list_price=lambda _model, _usage: None)
    try:
        asyncio.run(work(ledger))
        assert paid_latencies(ledger.engine, ["c"], 1) == {"c": [1.0]}
    finally:
        ledger.close()


@pytest.mark.usefixtures("toy_run")
def test_a_figure_without_samples_has_no_error_share(toy_run: Path) -> None:
    (entry,) = results(open_run(str(toy_run)))
    assert replace(entry.figures["weak"], n_samples=0).error_share is None
