"""Caps beside the state machine: what one process cannot know of another without counting."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from seedbed.lm.ledger import Begin, Cap, End, Granted, Ledger, OverBudget, caps
from seedbed.lm.ledger.database import _own  # type: ignore[attr-defined]
from seedbed.lm.types import Usage
from tests.support import lm
from tests.support.lm import budget_row, scope

SWEEP = (Cap("sweep:s", 10.0),)


def _spend(folder: Path, key: str, dollars: float, caps: tuple[Cap, ...]) -> object:
    """One call in a process of its own; what the ledger answered."""

    async def work(ledger: Ledger) -> object:
        begin = Begin(scope(), key, 1, None, b"{}", dollars, caps)
        answer = await ledger.begin(begin)
        if isinstance(answer, Granted):
            await ledger.end(
                End(answer.attempt_id, begin, "paid", Usage(1, 1), dollars, dollars, 0.0, 0.1, response=b"{}")
            )
        return answer

    ledger = Ledger(lm.ledger_url(folder), list_price=lambda _model, _usage: None)
    try:
        return asyncio.run(work(ledger))
    finally:
        ledger.close()


@pytest.mark.usefixtures("each_ledger")
def test_a_cap_counts_what_a_run_without_one_spent_in_between(tmp_path: Path) -> None:
    _spend(tmp_path, "capped", 4.0, SWEEP)
    _spend(tmp_path, "without a cap", 5.0, ())
    answer = _spend(tmp_path, "capped again", 4.0, SWEEP)
    assert isinstance(answer, OverBudget)
    assert (answer.used_usd, answer.reserved_usd) == (9.0, 0.0)
    assert budget_row(tmp_path, "sweep:s") == (9.0, 0.0)


@pytest.mark.usefixtures("each_ledger")
def test_a_dead_process_has_its_request_taken_over_and_keeps_its_worst_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedbed.lm.ledger.writer.HEARTBEAT_S", 3600.0)  # nobody else finds it dead first
    dies, lives = (Ledger(lm.ledger_url(tmp_path), list_price=lambda _model, _usage: None) for _ in range(2))

    async def work() -> list[str]:
        begin = Begin(scope(), "the same", 1, None, b"{}", 3.0, SWEEP)
        answers = [await dies.begin(begin), await lives.begin(begin)]
        _own.discard((str(dies.engine.url), dies.owner))
        return [type(answer).__name__ for answer in (*answers, await lives.begin(begin))]

    try:
        assert asyncio.run(work()) == ["Granted", "Busy", "Granted"]
        assert budget_row(tmp_path, "sweep:s") == (3.0, 3.0)
    finally:
        dies.close()
        lives.close()


@pytest.mark.usefixtures("each_ledger")
def test_waiting_for_a_request_of_another_counts_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked again several times a second: a sum over all attempts of a large sweep would stop every writer."""
    first, second = (Ledger(lm.ledger_url(tmp_path), list_price=lambda _model, _usage: None) for _ in range(2))
    counted: list[str] = []

    async def work() -> list[str]:
        begin = Begin(scope(), "the same", 1, None, b"{}", 3.0, SWEEP)
        answers = [await first.begin(begin), await second.begin(begin)]
        count = caps._count  # type: ignore[attr-defined]
        monkeypatch.setattr(caps, "_count", lambda *given: counted.append(given[1]) or count(*given))
        answers += [await second.begin(begin) for _ in range(3)]
        return [type(answer).__name__ for answer in answers]

    try:
        assert asyncio.run(work()) == ["Granted", "Busy", "Busy", "Busy", "Busy"]
        assert counted == []
        assert budget_row(tmp_path, "sweep:s") == (0.0, 3.0)
    finally:
        first.close()
        second.close()
