"""A PostgreSQL server on loopback, made from the binaries of this machine in a folder that is removed afterwards."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from tests.support.ports import quiet_port

PASSWORD = "correct-horse-4711"  # of the user `locked`
# Everybody is let in as he calls himself, but for one user who has to show a password.
_ACCESS = """\
host all locked 127.0.0.1/32 scram-sha-256
host all all    127.0.0.1/32 trust
"""
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "120",
    # Tests do not outlive the machine, but some outlive the server.
    "fsync": "off",
    "shared_buffers": "32MB",
}


def binaries() -> Path | None:
    """The newest version's folder of programs, as Debian lays them, or where the path leads."""
    found = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if (folder / "initdb").exists()]
    if found:
        return max(found, key=lambda folder: float(re.sub(r"[^0-9.]", "", folder.parent.name) or 0))
    program = shutil.which("initdb")
    return Path(program).resolve().parent if program else None


def missing() -> str | None:
    """Why no server can be had here; None if it can."""
    if binaries() is None:
        return "the programs of PostgreSQL are not installed (apt install postgresql)"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (pip install 'seedbed[postgres]')"
    if os.getuid() == 0 and not _has_user("postgres"):
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


class Postgres:
    """Use as a context manager."""

    def __init__(self) -> None:
        folder = binaries()
        assert folder is not None
        self._bin = folder
        self._home = Path(tempfile.mkdtemp(prefix="seedbed-pg-"))
        self._made: dict[str, str] = {}
        self.port = quiet_port()

    def __enter__(self) -> Postgres:
        if os.getuid() == 0:
            shutil.chown(self._home, "postgres")
        data = self._home / "data"
        self._run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        (data / "pg_hba.conf").write_text(_ACCESS)
        settings = "".join(f"{name} = '{value}'\n" for name, value in (_SETTINGS | {"port": str(self.port)}).items())
        with (data / "postgresql.conf").open("a") as file:
            file.write(settings)
        self.start()
        self.sql(f"CREATE ROLE locked LOGIN PASSWORD '{PASSWORD}'", "CREATE ROLE guest LOGIN")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self._home / "data"), "-l", str(self._home / "log"), "-w", "-t", "60", "start")

    def stop(self) -> None:
        """At once: whoever is connected is thrown out, as in a crash."""
        self._run("pg_ctl", "-D", str(self._home / "data"), "-m", "immediate", "-w", "stop")

    def url(self, database: str, user: str = "postgres", driver: str = "postgresql+psycopg") -> str:
        return f"{driver}://{user}@127.0.0.1:{self.port}/{database}"

    def database(self, name: str, owner: str = "postgres") -> str:
        """A new empty database; returns its URL for the owner."""
        self.sql(f'CREATE DATABASE "{name}" OWNER "{owner}"')
        return self.url(name, owner)

    def database_of(self, folder: Path) -> str:
        """The database that stands for a ledger in a folder; made when it is first asked for."""
        key = str(folder)
        if key not in self._made:
            self._made[key] = self.database(f"ledger_{os.getpid()}_{len(self._made)}")
        return self._made[key]

    def sql(self, *statements: str, database: str = "postgres") -> None:
        import psycopg

        with psycopg.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname=database, autocommit=True
        ) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        # pg_ctl hands its output on to the server, which would keep a pipe open.
        with (self._home / "setup.log").open("ab") as log:
            done = subprocess.run(command, stdout=log, stderr=log, cwd="/", check=False)
        assert done.returncode == 0, (self._home / "setup.log").read_text()


def _has_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
