"""Whether a process is the one that was started here: process numbers are given out again."""

from __future__ import annotations

import subprocess
from pathlib import Path

SERVER_MODULE = "flows.local_server"
"""Stands in the command line of every local server."""


def birth(pid: int) -> str | None:
    """When the local server with this number was born, in the words of the system; None if it is gone, or is some other
    program."""
    found = _from_proc(pid) if Path("/proc/self/stat").exists() else _from_ps(pid)
    if found is None:
        return None
    born, command = found
    return born if SERVER_MODULE in command else None


def _from_proc(pid: int) -> tuple[str, str] | None:
    """Ticks since the machine's start, which no clock moves; a process that has ended has no command any more."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    # The program's name stands in brackets and may hold anything; the numbers follow the last one.
    return stat.rpartition(")")[2].split()[19], command


def _from_ps(pid: int) -> tuple[str, str] | None:
    done = subprocess.run(  # noqa: S603
        ["ps", "-p", str(pid), "-o", "lstart=,command="],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "PATH": "/bin:/usr/bin"},
    )
    line = done.stdout.strip()
    return (line[:24], line[24:]) if done.returncode == 0 and line else None
