"""The short form of tests/faults/batch_kills.py: one kill at a step of each kind that leaves something behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.batch_kills import campaign
from tests.support.postgres import Postgres

pytestmark = pytest.mark.slow


def test_kills_in_the_life_of_a_batch_cost_nothing_and_change_no_byte(tmp_path: Path) -> None:
    found = campaign(tmp_path, kills=7, seed=3, seeds="[0]", limit=9, systems="[once]")
    assert found.holds, found
    assert found.kills.total() >= 5


def test_nor_do_they_where_the_ledger_is_in_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    ledger = postgres.database("batch_kills")
    found = campaign(
        tmp_path, kills=5, seed=4, protocol="anthropic", ledger=ledger, seeds="[0]", limit=9, systems="[once]"
    )
    assert found.holds, found
    assert found.kills.total() >= 4
