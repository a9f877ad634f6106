"""The same sweep started twice at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep


@pytest.mark.usefixtures("seedbed_home")
def test_two_runs_at_once_both_complete_and_pay_once(tmp_path: Path) -> None:
    with Loopback(latency_s=0.03) as server:
        sweep = Sweep(tmp_path, server)
        both = [sweep.start(), sweep.start()]
        ended = [process.communicate(timeout=600) for process in both]
        assert [process.returncode for process in both] == [0, 0], ended
        attempts, names = sweep.attempts(), sweep.sent_names()
    paid = [row for row in attempts if row.outcome == "paid"]
    assert len({row.key for row in paid}) == len(paid) == server.books.requests
    assert {names[row.key] for row in paid} == set(server.books.by_body)
    usage = sweep.usage()
    # 12 questions, asked once or twice and judged once, for two seeds: what each cell would pay by itself.
    assert sum(phase["calls"] for cell in usage.values() for phase in cell.values()) == 2 * 12 * (2 + 3)


@pytest.mark.usefixtures("seedbed_home")
def test_a_budget_ends_a_sweep_cleanly_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    with Loopback() as server:
        sweep = Sweep(tmp_path, server, "budget: {max_usd: 0.02}\n")
        code, out, err = sweep.run()
        assert code == 1
        assert "budget" in err, err
        assert "budget_reached" in out
        spent = sum(row.spent_usd for row in sweep.attempts())
        assert 0 < spent <= 0.02
        code, out, err = sweep.run("--set", "budget.max_usd=5")
        assert code == 0, err
    outcomes = sweep.outcomes()
    # Two seeds ask the same with seeds of their own.
    assert outcomes["paid"] == server.books.requests == len(server.books.by_body)
