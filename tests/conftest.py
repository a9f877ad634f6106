"""One Prefect server for all tests that need one, in a home of its own."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def seedbed_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a running server; commands run by tests find it through the environment."""
    from seedbed import server

    home = tmp_path_factory.mktemp("home")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = ("SEEDBED_HOME", "SEEDBED_PORT", "PREFECT_API_URL", "PREFECT_LOCAL_STORAGE_PATH")
    before = {name: os.environ.pop(name, None) for name in names}
    os.environ.update(SEEDBED_HOME=str(home), SEEDBED_PORT=str(port), DO_NOT_TRACK="1")
    server.start()
    try:
        yield home
    finally:
        server.stop()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
