"""The local Prefect server: one for all sweeps of this user, started when it is needed, left running for its UI.

Prefect's own ephemeral server loses task runs at exit and leaves a child behind when it is killed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from seedbed.errors import UserError
from seedbed.paths import home

DEFAULT_PORT = 4200
START_TIMEOUT_S = 120.0

_SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # Many short tasks end at once in a sweep; small batches at short intervals drain them several times faster.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}


def database_url() -> str:
    """Where the server keeps its records: SQLite in its home, or the PostgreSQL that SEEDBED_PREFECT_DATABASE names
    (postgresql+asyncpg://USER@HOST/DATABASE, password in PGPASSWORD)."""
    return os.environ.get("SEEDBED_PREFECT_DATABASE") or f"sqlite+aiosqlite:///{home() / 'prefect.db'}"


@dataclass(frozen=True)
class Server:
    pid: int
    port: int

    @property
    def ui(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api(self) -> str:
        return f"{self.ui}/api"


def running() -> Server | None:
    """The local server if it is up and answers."""
    file = home() / "server.json"
    if not file.exists():
        return None
    server = Server(**json.loads(file.read_text(encoding="utf-8")))
    return server if _healthy(server) else None


def start() -> Server:
    """Start the local server, or return the one that runs. Two callers at once get the same one."""
    home().mkdir(parents=True, exist_ok=True)
    with FileLock(home() / "server.lock"):
        found = running()
        if found is not None:
            return found
        server = _spawn(_free_port())
        (home() / "server.json").write_text(json.dumps(asdict(server)), encoding="utf-8")
        return server


def stop() -> bool:
    """Stop the local server; False if none was running."""
    server = running()
    if server is None:
        return False
    os.killpg(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + 15
    while _healthy(server) and time.monotonic() < deadline:
        time.sleep(0.2)
    if _healthy(server):
        os.killpg(server.pid, signal.SIGKILL)
    (home() / "server.json").unlink(missing_ok=True)
    return True


def client_environment() -> dict[str, str]:
    """Start or reuse the server and return the settings a Prefect client needs, for `os.environ`.

    A PREFECT_API_URL that is already set is respected.
    """
    wanted = {
        "DO_NOT_TRACK": "1",
        "PREFECT_LOCAL_STORAGE_PATH": str(home() / "results"),
        # The run's log in the UI tells what happened; the terminal has its own progress.
        "PREFECT_LOGGING_LEVEL": "INFO",
        # Runs that died are found by the silence of their heartbeat; the default would take minutes.
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "ERROR",
    }
    settings = {name: os.environ.get(name, value) for name, value in wanted.items()}
    given = os.environ.get("PREFECT_API_URL")
    if given and not _answers(given):
        raise UserError(f"PREFECT_API_URL is {given}, but no server answers there; start it or unset the variable.")
    settings["PREFECT_API_URL"] = given or start().api
    if settings["PREFECT_API_URL"].startswith("http://") and "PREFECT_API_SSL_CERT_FILE" not in os.environ:
        settings["PREFECT_API_SSL_CERT_FILE"] = str(_short_bundle())
    return settings


def _short_bundle() -> Path:
    """A bundle of one certificate. Prefect makes a client for every task and reads its bundle each time, which takes
    36 ms for the usual one; a server without TLS is never asked for a certificate."""
    path = home() / "one-certificate.pem"
    if not path.exists():
        import certifi

        first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(f"{first}{end}\n", encoding="utf-8")
        partial.replace(path)
    return path


def _spawn(port: int) -> Server:
    environment = {
        **os.environ,
        **_SETTINGS,
        "PREFECT_HOME": str(home() / "prefect"),
        "PREFECT_API_DATABASE_CONNECTION_URL": database_url(),
        "PREFECT_UI_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_API_PORT": str(port),
    }
    environment.pop("PREFECT_API_URL", None)
    log = (home() / "server.log").open("ab")
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environment,
        # Its own session: Ctrl-C in the terminal stops the sweep, not the server.
        start_new_session=True,
    )
    server = Server(process.pid, port)
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise UserError(
                f"the Prefect server ended at once (exit {process.returncode}); see {home() / 'server.log'}."
            )
        if _healthy(server):
            return server
        time.sleep(0.2)
    process.kill()
    raise UserError(f"the Prefect server did not answer within {START_TIMEOUT_S:g} s; see {home() / 'server.log'}.")


def _healthy(server: Server) -> bool:
    return _answers(server.api)


def _answers(api: str) -> bool:
    # A proxy from the environment cannot reach this machine's loopback.
    local = "://127." in api or "://localhost" in api
    opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if local else []))
    try:
        with opener.open(f"{api.rstrip('/')}/health", timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError, ValueError):
        return False


def _free_port() -> int:
    wanted = int(os.environ.get("SEEDBED_PORT", DEFAULT_PORT))
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise UserError("no free port on 127.0.0.1 for the Prefect server.")
