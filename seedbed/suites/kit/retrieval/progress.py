"""How far a long preparation has come, on the error stream."""

from __future__ import annotations

import sys
import time
from pathlib import Path

_EVERY_S = 10.0


def count_lines(file: Path) -> int | None:
    """How many lines a file has; None where they cannot be counted without reading it as what it is."""
    if file.suffix not in (".jsonl", ".ndjson", ".csv", ".tsv"):
        return None
    with file.open("rb") as handle:
        return sum(part.count(b"\n") for part in iter(lambda: handle.read(1 << 22), b""))


class Progress:
    """A bar that is drawn over itself on a terminal, a line every ten seconds elsewhere; nothing of what is quick."""

    def __init__(self, title: str, total: int | None, done: int = 0) -> None:
        self._title, self._total = title, total
        self._from, self._started = done, time.monotonic()
        self._live = sys.stderr.isatty()
        self._next = self._started + (1.0 if self._live else _EVERY_S)
        self._shown = False

    def at(self, done: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.5 if self._live else _EVERY_S)
        self._show(self._line(done, now))

    def say(self, what: str) -> None:
        """A step of which it is not known how long it takes, if the whole takes long."""
        if self._shown or time.monotonic() > self._next:
            self._show(f"{self._title}: {what}")

    def end(self) -> None:
        if self._shown and self._live:
            print(file=sys.stderr)

    def _show(self, line: str) -> None:
        self._shown = True
        end = "" if self._live else "\n"
        print(f"\r\x1b[K{line}" if self._live else line, end=end, file=sys.stderr, flush=True)

    def _line(self, done: int, now: float) -> str:
        rate = (done - self._from) / max(now - self._started, 1e-9)
        if not self._total:
            return f"{self._title}: {done:,} rows, {rate:,.0f} a second"
        share = min(1.0, done / self._total)
        left = (self._total - done) / rate if rate else 0.0
        remaining = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
        bar = "█" * int(20 * share) + "░" * (20 - int(20 * share)) + " " if self._live else ""
        return f"{self._title}: {bar}{share:.0%} of {self._total:,} rows, {rate:,.0f} a second, {remaining} left"
