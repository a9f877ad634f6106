"""One phase of one cell: what it may not do once its lock is another's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from seedbed.lm.ledger.locks import LockLost
from seedbed.lm.ledger.schema import locks
from seedbed.lm.runtime import close_runtimes
from seedbed.phases import run
from seedbed.phases.context import CellContext
from seedbed.phases.generate import generate
from tests.support.cells import prepared

CONFIG = """\
name: one
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - {suite: toy, models: [reader], benchmarks: [{name: sums, n: 6}], systems: [{name: guess, skill: 1.0}]}
max_error_share: 1.0
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def test_a_phase_whose_lock_was_taken_over_is_not_marked_as_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on object storage: the lock is a row of the ledger. The other worker will say what is done."""
    config = tmp_path / "one.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    ready = prepared(config, tmp_path / "out")
    cell = ready.plan.cells[0]

    def silent_too_long(context: CellContext, folder: Path) -> Any:
        done = generate(context, folder)
        with context.runtime.ledger.engine.begin() as connection:
            connection.execute(update(locks).values(token="another's"))
        return done

    monkeypatch.setattr("seedbed.phases.lock.is_local", lambda _root: False)
    with monkeypatch.context() as patch:
        patch.setitem(run._WORK, "generate", silent_too_long)  # type: ignore[attr-defined]
        with pytest.raises(LockLost):
            ready.phase(cell, "generate")
    marker = ready.folder(cell) / "done" / "generate.json"
    assert not marker.exists()
    with ready.runtime().ledger.engine.begin() as connection:
        connection.execute(locks.delete())
    ready.phase(cell, "generate")
    assert marker.exists()
