"""Answers without a call that the ledger knows: what they cost is unknown, not nothing."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.phases.uncounted import counted, uncounted_note, warn_uncounted

USAGE: dict[str, Any] = {"calls": 0, "list_usd": 0.0, "spent_usd": 0.0, "tokens_in": 0, "outcomes": {}}
UNKNOWN = {**USAGE, "calls": None, "list_usd": None, "spent_usd": None}


@pytest.mark.parametrize(
    ("outcomes", "calls_per_case", "answered", "known"),
    [
        ({}, 1.0, 5, False),
        ({"paid": 0, "failed": 0}, 0.5, 1, False),
        ({"paid": 0, "failed": 1}, 1.0, 5, True),
        ({}, 0.0, 5, True),
        ({}, -1.0, 5, True),
        ({}, 1.0, 0, True),
    ],
)
def test_dollars_are_unknown_where_answers_came_without_a_call(
    outcomes: dict[str, int], calls_per_case: float, answered: int, known: bool
) -> None:
    found = counted({**USAGE, "outcomes": outcomes}, calls_per_case, answered)
    assert found == {**(USAGE if known else UNKNOWN), "outcomes": outcomes}


def test_it_is_said_once_a_system(caplog: pytest.LogCaptureFixture) -> None:
    for system in ("own_a", "own_a", "own_b"):
        warn_uncounted(system, 5)
    assert caplog.messages == [uncounted_note("own_a", 5), uncounted_note("own_b", 5)]
    assert caplog.messages[0].startswith("system 'own_a' gave 5 answers and made no call that the ledger knows")
