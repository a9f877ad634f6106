"""The short form of tests/faults/batch_kills.py: one kill at a step of each kind that leaves something behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.batch_kills import campaign

pytestmark = pytest.mark.slow


def test_kills_in_the_life_of_a_batch_cost_nothing_and_change_no_byte(tmp_path: Path) -> None:
    found = campaign(tmp_path, kills=7, seed=3, seeds="[0]", limit=9, systems="[once]")
    assert found.holds, found
    assert found.kills.total() >= 5
