"""Code of a suite that pairs cells may fail, and what it says then is written down by others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases import aggregate
from seedbed.phases.context import open_run
from seedbed.sweep.registry import get_suite


def test_a_suite_that_fails_to_pair_its_cells_tells_no_secret(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    group, cells = next(iter(open_run(str(toy_run)).plan.groups().items()))

    def pair(rows: Any, metrics: Any) -> Any:
        raise RuntimeError("no pairs with zebra-crossing-77")

    monkeypatch.setattr(aggregate, "get_suite", lambda name: replace(get_suite(name), score_group=pair))
    with pytest.raises(RuntimeError, match=r"^no pairs with \[redacted\]$"):
        aggregate.score_group(str(toy_run), group, [cell.id for cell in cells])
