"""The example agents and their sweep killed at random, in a short form; .github/workflows/campaign.yml runs the long
one every week."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.agents import AGENTS, campaign, missing


@pytest.mark.parametrize("agent", AGENTS)
def test_kills_of_sweep_and_agents_leave_ledger_and_bill_equal(tmp_path: Path, agent: str) -> None:
    if (lack := missing(agent)) is not None:
        pytest.skip(lack)
    assert list(campaign(tmp_path, agent, kills=2, samples=2, seed=20)) == []
