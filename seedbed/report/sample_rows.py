"""Reads the samples of a cell a few at a time: what was answered and scored, and the calls made for it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from seedbed.report.transcript import received, sent
from seedbed.storage.paths import is_local, read_bytes

_READ = 1 << 20
_SAMPLE = re.compile(rb'"sample": ("(?:[^"\\]|\\.)*")')
_ID = re.compile(rb'\{"sample_id": ?("(?:[^"\\]|\\.)*")')
_SHOWN = ("phase", "role", "model", "outcome", "tokens_in", "tokens_out", "list_usd", "latency_s", "error")
"""What the page says of a call."""

Answered = tuple[dict[str, Any], dict[str, Any]]
"""A row of scores and the prediction it belongs to."""


class CellRows:
    """The rows of a cell, read in the order of its files from where the last reading ended: no file stays open, and
    memory holds what was asked for."""

    def __init__(self, folder: Path, wanted: Wanted, *, with_calls: bool) -> None:
        self._scores, self._predictions = (_here(folder / name) for name in ("scores.jsonl", "predictions.jsonl"))
        self._history = _here(folder / "lm_history.jsonl") if with_calls else None
        self._wanted = wanted
        self._at = (0, 0)
        self._ahead: dict[str, tuple[bytes, bytes]] = {}
        self._calls = _call_places(self._history, wanted) if self._history else {}
        self.n_rows = 0
        """How many there are, among those read so far."""

    def take(self, samples: Sequence[str]) -> dict[str, Answered]:
        """The rows of some samples. Both files have a line a case in the same order, and most often all cells have
        the order that is asked for; what comes before its turn is kept."""
        missing = [sample for sample in samples if sample not in self._ahead]
        if missing:
            self._read_until(set(missing))
        return {
            sample: (orjson.loads(found[0]), orjson.loads(found[1]))
            for sample in samples
            if (found := self._ahead.pop(sample, None)) is not None
        }

    def calls(self, sample: str) -> list[Any] | None:
        """The calls made for a sample after any optimising; None where they are left out."""
        if self._history is None:
            return None
        places = self._calls.get(sample)
        if places is None:
            return []
        calls = map(orjson.loads, _pieces_of(self._history, places))
        return [_shown(call) for call in calls if call["phase"] != "optimise"]

    def finish(self) -> None:
        """Count the rows that nobody asked for."""
        self._read_until({""})

    def _read_until(self, missing: set[str]) -> None:
        with self._scores.open("rb") as scores, self._predictions.open("rb") as predictions:
            scores.seek(self._at[0])
            predictions.seek(self._at[1])
            while missing and (line := scores.readline()):
                answered = predictions.readline()
                self.n_rows += 1
                match = _ID.match(line)
                sample = self._wanted.named(match[1]) if match else orjson.loads(line)["sample_id"]
                if sample is not None:
                    self._ahead[sample] = (line, answered)
                    missing.discard(sample)
            self._at = (scores.tell(), predictions.tell())


class Wanted:
    """Sample ids, told apart as they stand in a file: most lines are not worth reading whole."""

    def __init__(self, ids: set[str]) -> None:
        self._raw = {
            json.dumps(sample, ensure_ascii=plain).encode(): sample for sample in ids for plain in (True, False)
        }
        self._ids = ids

    def named(self, quoted: bytes) -> str | None:
        """The id that a file has in quotes, where it is one of these."""
        found = self._raw.get(quoted)
        # The same id can be written with escapes in more than one way.
        if found is None and b"\\" in quoted and (read := orjson.loads(quoted)) in self._ids:
            return read
        return found


def _here(path: Path) -> Path:
    """The file itself, or a copy of an object that goes when this process does."""
    if is_local(path):
        return path
    copy = tempfile.NamedTemporaryFile(prefix="seedbed-", suffix=path.suffix, delete=False)  # noqa: SIM115
    with copy:
        copy.write(read_bytes(path) if path.exists() else b"")
    _COPIES.append(copy.name)
    return Path(copy.name)


_COPIES: list[str] = []


def drop_copies() -> None:
    """Remove copies of objects once a report is made."""
    while _COPIES:
        Path(_COPIES.pop()).unlink(missing_ok=True)


def _call_places(path: Path, wanted: Wanted) -> dict[str, list[tuple[int, int]]]:
    """By sample, where in lm_history.jsonl its calls stand."""
    found: dict[str, list[tuple[int, int]]] = {}
    if not path.exists():
        return found
    with path.open("rb") as handle:
        base = 0
        # Whole lines, many at a time.
        while data := handle.read(_READ) + handle.readline():
            for sample, start, end in _lines_about(data, wanted):
                found.setdefault(sample, []).append((base + start, end - start))
            base += len(data)
    return found


def _lines_about(data: bytes, wanted: Wanted) -> Iterator[tuple[str, int, int]]:
    """Lines that name a wanted sample. Quotes inside texts are escaped, so the key is not found in what was said."""
    end = -1
    for match in _SAMPLE.finditer(data):
        if match.start() > end and (sample := wanted.named(match[1])) is not None:
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end())
            end = len(data) if end < 0 else end
            yield sample, start, end


def _pieces_of(path: Path, places: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Parts of a file, by where they begin and how long they are. Asked for once a sample and cell: without the buffer
    of a file object, which costs more than what is read."""
    number = os.open(path, os.O_RDONLY)
    try:
        for start, length in places:
            yield os.pread(number, length, start)
    finally:
        os.close(number)


def _shown(call: dict[str, Any]) -> dict[str, Any]:
    ends = [choice.get("finish_reason") for choice in (call["response"] or {}).get("choices") or []]
    told = {name: call[name] for name in _SHOWN}
    return {**told, "ended": ends, "sent": sent(call), "received": received(call)}
