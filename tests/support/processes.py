"""Processes of this machine, by where they work."""

from __future__ import annotations

import os
from pathlib import Path


def working_in(folder: Path) -> list[int]:
    """Those whose current folder it is, this one apart."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                state = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                if state != "Z" and (entry / "cwd").readlink() == folder:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
