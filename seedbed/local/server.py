"""The local Prefect server: one for all sweeps of this user, started when it is needed, left running for its UI.

Prefect's own ephemeral server loses task runs at exit and leaves a child behind when it is killed. This one stands
behind a guard (`seedbed.local.guard`) and asks everybody for an auth string, which lies in a file that only this user
can read.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

import seedbed
from seedbed.errors import UserError
from seedbed.local.guard import LOGIN, PROOF, TICKET, basic, proof
from seedbed.local.identity import SERVER_MODULE, birth
from seedbed.storage.paths import home
from seedbed.storage.store import write_bytes

DEFAULT_PORT = 4200
UI_PORT = 4280
"""Of our pages, where the Prefect server is somebody else's."""
START_TIMEOUT_S = 300.0
"""A machine on which twenty others compute takes minutes; a server that cannot start ends, and that is seen at once."""
_STOP_TIMEOUT_S = 15.0

_SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # Many short tasks end at once in a sweep; small batches at short intervals drain them several times faster.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    # Logs and artifacts of runs that `seedbed server tidy` dropped go once a day; events after a week.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,orphans",
    "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    # From wherever the UI itself came.
    "PREFECT_UI_API_URL": "/api",
}
_ENTRY = f"import sys; sys.path.append(sys.argv.pop(1)); from {SERVER_MODULE} import main; main()"


def database_url() -> str:
    """Where the server keeps its records: SQLite in its home, or the PostgreSQL that SEEDBED_PREFECT_DATABASE names
    (postgresql+asyncpg://USER@HOST/DATABASE, password in PGPASSWORD)."""
    return os.environ.get("SEEDBED_PREFECT_DATABASE") or f"sqlite+aiosqlite:///{home() / 'prefect.db'}"


def probes() -> Path:
    """The ledger of `seedbed doctor`."""
    return home() / "doctor.sqlite"


@dataclass(frozen=True)
class Server:
    pid: int
    port: int
    born: str
    """With the number, names one process for ever (`seedbed.local.identity`)."""

    @property
    def ui(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api(self) -> str:
        return f"{self.ui}/api"

    def login_link(self) -> str:
        """The address of our pages for a browser that is to be let in: good once, for some minutes."""
        if "pages" not in json.loads(_asked(f"{self.ui}{PROOF}")):
            raise UserError(
                f"the server at {self.ui} was started by an older Seedbed, which has no pages of its own; `seedbed "
                "server stop` ends it, and the next command starts another."
            )
        ticket = _asked(f"{self.ui}{TICKET}", {"Authorization": basic(auth_string())}, method="POST")
        return f"{self.ui}{LOGIN}#{ticket.decode()}"


def auth_string() -> str:
    """What the server asks everybody for; made at the first start, readable for this user alone."""
    file = usable_home() / "server.auth"
    if not file.exists():
        partial = file.with_suffix(f".{os.getpid()}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(f"seedbed:{secrets.token_urlsafe(32)}")
        try:
            # Of two that make one at the same time the first wins.
            os.link(partial, file)
        except FileExistsError:
            pass
        finally:
            partial.unlink()
    return file.read_text(encoding="utf-8")


def running() -> Server | None:
    """The local server if it is up and proves that it is ours."""
    server = _recorded()
    return server if server is not None and birth(server.pid) == server.born and _proves(server) else None


def start(port: int | None = None) -> Server:
    """Start the local server, or return the one that runs. Two callers at once get the same one. It takes the port that
    is given, or the usual one, where that is free."""
    with FileLock(usable_home() / "server.lock"):
        found = _running_or_busy()
        if found is not None:
            return found
        server = _spawn(port or port_setting("SEEDBED_PORT", DEFAULT_PORT))
        write_bytes(home() / "server.json", json.dumps(asdict(server)).encode())
        return server


def _running_or_busy() -> Server | None:
    """The local server. One that lives but does not answer is waited for: others may be at work with it."""
    server = _recorded()
    deadline = time.monotonic() + START_TIMEOUT_S
    while server is not None and birth(server.pid) == server.born:
        if _proves(server):
            return server
        if time.monotonic() > deadline:
            told = f"the Prefect server (pid {server.pid}) does not answer"
            raise UserError(f"{told}; end it with `seedbed server stop`.")
        time.sleep(0.5)
    return None


def stop() -> bool:
    """Stop the local server; False if none was running. Nothing is ended but the very process that was started here."""
    server = _recorded()
    if server is None or birth(server.pid) != server.born:
        return False
    os.killpg(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_TIMEOUT_S
    while birth(server.pid) == server.born and time.monotonic() < deadline:
        time.sleep(0.2)
    if birth(server.pid) == server.born:
        os.killpg(server.pid, signal.SIGKILL)
    (home() / "server.json").unlink(missing_ok=True)
    return True


def connect() -> None:
    """Make this process a client of the server, which is started if there is none."""
    os.environ.update(client_environment())
    # Who imported Prefect before, as a notebook may have, has its settings of then: it would start a server of its own.
    if (prefect_context := sys.modules.get("prefect.context")) is not None:
        prefect_context.refresh_global_settings_context()


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
    settings |= _address()
    if settings["PREFECT_API_URL"].startswith("http://") and "PREFECT_API_SSL_CERT_FILE" not in os.environ:
        settings["PREFECT_API_SSL_CERT_FILE"] = str(_short_bundle())
    return settings


def port_setting(name: str, default: int) -> int:
    """A port from the environment."""
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or int(text) > 65535:
        raise UserError(f"{name} is {text!r}, which is no port; give a number up to 65535.")
    return int(text)


def _address() -> dict[str, str]:
    given = os.environ.get("PREFECT_API_URL")
    if given and not answers(given):
        raise UserError(f"PREFECT_API_URL is {given}, but no server answers there; start it or unset the variable.")
    local = running() if given else start()
    if local is None or (given and given.rstrip("/") != local.api):
        # Somebody else's server; what it asks for is in the environment already.
        return {"PREFECT_API_URL": given or ""}
    return {"PREFECT_API_URL": local.api, "PREFECT_API_AUTH_STRING": auth_string()}


def usable_home() -> Path:
    """The folder that all of this needs; one that cannot be made or written is refused."""
    try:
        home().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable_home(str(error.strerror)) from None
    if not os.access(home(), os.W_OK | os.X_OK):
        raise _unusable_home("it cannot be written")
    return home()


def _unusable_home(why: str) -> UserError:
    return UserError(f"{home()}: cannot be Seedbed's own folder ({why}); name another with SEEDBED_HOME.")


def _recorded() -> Server | None:
    """What was written down at the last start; the process may be gone, or its number given to another."""
    try:
        data = json.loads((home() / "server.json").read_text(encoding="utf-8"))
        return Server(int(data["pid"]), int(data["port"]), str(data["born"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


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


def _spawn(wanted: int) -> Server:
    port = free_port(wanted)
    public = os.environ.get("SEEDBED_UI_URL")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("PREFECT_API_URL", "PREFECT_API_KEY")},
        **_SETTINGS,
        "PREFECT_HOME": str(home() / "prefect"),
        "PREFECT_API_DATABASE_CONNECTION_URL": database_url(),
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_API_AUTH_STRING": auth_string(),
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": public.rstrip("/") if public else f"http://127.0.0.1:{port}",
    }
    log = os.open(home() / "server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603
            # Not by a module found in the current folder, which may hold other `flows`.
            [sys.executable, "-P", "-c", _ENTRY, str(Path(seedbed.__file__).resolve().parent.parent), str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            # Its own session: Ctrl-C in the terminal stops the sweep, not the server.
            start_new_session=True,
        )
    finally:
        os.close(log)
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise UserError(
                f"the Prefect server ended at once (exit {process.returncode}); see {home() / 'server.log'}."
            )
        born = birth(process.pid)
        if born is not None and _proves(server := Server(process.pid, port, born)):
            return server
        time.sleep(0.2)
    process.kill()
    raise UserError(f"the Prefect server did not answer within {START_TIMEOUT_S:g} s; see {home() / 'server.log'}.")


def _proves(server: Server) -> bool:
    """Whether who answers at the server's port knows the auth string: nobody else is to be sent it."""
    nonce = secrets.token_hex(16)
    try:
        told: Any = json.loads(_asked(f"{server.ui}{PROOF}?nonce={nonce}"))
        return told["pid"] == server.pid and secrets.compare_digest(told["proof"], proof(auth_string(), nonce))
    except (urllib.error.URLError, OSError, ValueError, KeyError, TypeError):
        return False


def answers(api: str) -> bool:
    """Whether a Prefect server is at that address, ours or another."""
    try:
        _asked(f"{api.rstrip('/')}/health")
    except (urllib.error.URLError, OSError, ValueError):
        return False
    return True


def _asked(url: str, headers: dict[str, str] | None = None, method: str = "GET") -> bytes:
    # A proxy from the environment cannot reach this machine's loopback.
    local = "://127." in url or "://localhost" in url
    opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if local else []))
    request = urllib.request.Request(url, headers=headers or {}, method=method)  # noqa: S310
    with opener.open(request, timeout=5) as reply:
        return reply.read()


def free_port(wanted: int) -> int:
    """That port, or any other that is free."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise UserError("no free port on 127.0.0.1 for the Prefect server.")
