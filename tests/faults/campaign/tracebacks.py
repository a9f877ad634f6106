"""Tracebacks in what a sweep printed, without the one that is nobody's fault."""

from __future__ import annotations

import re

_BROKEN_SLEEP = re.compile(
    r"Exception in thread .*:\n"
    r"Traceback \(most recent call last\):\n"
    r'(?:  File ".*/threading\.py", line \d+, in \w+\n(?:    .*\n)+)*'
    r'  File ".*/prefect/flow_engine\.py", line \d+, in heartbeat_loop\n'
    r"    time\.sleep\(1\)\n"
    r"OSError: .*\n"
)
"""libfaketime lets a sleep over which the clock jumps fail; Prefect's heartbeat sleeps all the time."""


def first_traceback(said: str, *, clock_jumped: bool = False) -> str | None:
    """The first one, and what follows it; None where there is none."""
    left = _BROKEN_SLEEP.sub("", said) if clock_jumped else said
    at = left.find("Traceback")
    return None if at < 0 else left[at : at + 3000]
