"""Which of the changes is on: this file stands in the copied tree as `seedbed/_switch.py`."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

ACTIVE = [int(os.environ.get("SEEDBED_CHANGE", "0"))]
REACHED: set[int] = set()


def on(number: int) -> bool:
    REACHED.add(number)
    return number == ACTIVE[0]


def _tell(folder: str) -> None:
    Path(folder, str(os.getpid())).write_text(" ".join(map(str, REACHED)))


if "SEEDBED_REACHED" in os.environ:
    atexit.register(_tell, os.environ["SEEDBED_REACHED"])
