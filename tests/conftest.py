"""One Prefect server for all tests that need one, in a home of its own; one PostgreSQL and one S3 server likewise."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support.ports import quiet_port
from tests.support.postgres import Postgres, missing
from tests.support.s3 import S3Server

# A busy machine is no fault of what is tested.
settings.register_profile(
    "seedbed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # Not `explain`, which runs a failure again and again under a tracer.
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
# For `make mutants`: whether a test fails is asked, not why, and the same examples are tried each time.
settings.register_profile(
    "mutants", settings.get_profile("seedbed"), phases=[Phase.explicit, Phase.generate], database=None, derandomize=True
)
settings.load_profile("seedbed")

# A shell starts what runs in the background deaf to Ctrl-C, nohup to a closed terminal, and programs started from here
# would be so too.
for number, heard in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, heard)

SERVERS = {"seedbed_home", "postgres", "s3", "tab", "dom"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts a server or a browser is slow, whether its module says so or not."""
    for item in items:
        asked: set[str] = set(getattr(item, "fixturenames", ()))
        given = getattr(item, "callspec", None)
        if asked & SERVERS or (given is not None and given.params.get("each_ledger") == "postgresql"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def seedbed_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a running server; commands run by tests find it through the environment."""
    from seedbed.local import server

    home = tmp_path_factory.mktemp("home")
    port = quiet_port()
    names = ("SEEDBED_HOME", "SEEDBED_PORT", "PREFECT_API_URL", "PREFECT_API_AUTH_STRING", "PREFECT_LOCAL_STORAGE_PATH")
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL server on loopback; tests that need it are skipped where its programs are not installed."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with Postgres() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def each_ledger(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test on each database a ledger can be kept in: `tests.support.lm.ledger_url` then answers with its URL."""
    if request.param == "postgresql":
        server: Postgres = request.getfixturevalue("postgres")
        monkeypatch.setattr("tests.support.lm.ledger_url", server.database_of)
    return request.param


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A real S3-compatible server on loopback."""
    with S3Server() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of the test's own; the environment leads to it."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return s3.bucket()
