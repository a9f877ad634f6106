"""The sweep that is disturbed in these tests, undisturbed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep


@pytest.fixture(scope="session")
def calm(seedbed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """On threads, SQLite and the disk, run to its end; its server's books are kept. Read only."""
    with Loopback() as server:
        sweep = Sweep(tmp_path_factory.mktemp("calm"), server)
        code, _, err = sweep.run()
        assert code == 0, err
    return sweep
