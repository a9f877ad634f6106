"""One finished sweep of the toy suite for all tests of what is made from it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its run. Read only."""
    from tests.support.toy import finished_run

    return finished_run(tmp_path_factory.mktemp("toys"), ask=True)
