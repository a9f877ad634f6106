"""Comparing what is published with what was computed again: every leaf, every line, with a name for each difference."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_file

_SAME = 1e-9
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_SHOWN = 160
STORED = "the stored rows give"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something published that does not follow from what is stored."""

    file: str
    """Below the root of the results."""
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


class Checker:
    """Compares and keeps count."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.differences: list[Difference] = []
        self.unchecked: dict[str, None] = {}
        """What was not looked at, a sentence each, in order."""
        self.files: set[str] = set()
        self.figures = 0

    def compare(self, file: Path, published: Any, computed: Any, at: str = "", told: str = STORED) -> None:
        """Every leaf of two values; numbers may differ by rounding only."""
        self.files.add(self.name(file))
        if isinstance(computed, Mapping) and isinstance(published, Mapping):
            for key in dict.fromkeys([*computed, *published]):
                place = f"{at}.{key}" if at else str(key)
                if key in computed and key in published:
                    self.compare(file, published[key], computed[key], place, told)
                else:
                    self.differ(file, f"{place} is {'missing' if key in computed else 'not expected'}")
        elif isinstance(computed, list | tuple) and isinstance(published, list | tuple):
            if len(computed) != len(published):
                self.differ(file, f"{at or 'it'} has {len(published)} entries, {told} {len(computed)}")
            for place, (own, other) in enumerate(zip(published, computed, strict=False)):
                self.compare(file, own, other, f"{at}[{place}]", told)
        else:
            self.figures += 1
            if not same(published, computed):
                self.differ(file, f"{at} is {_short(published)}, {told} {_short(computed)}")

    def rows(self, file: Path, published: Sequence[Any], computed: Sequence[Any], told: str = STORED) -> None:
        """Rows of a file, each named by its number and, where it has one, its sample."""
        self.files.add(self.name(file))
        if len(published) != len(computed):
            self.differ(file, f"has {len(published)} rows, {told} {len(computed)}")
        for number, (own, other) in enumerate(zip(published, computed, strict=False), start=1):
            sample = other.get("sample_id") or other.get("sample") if isinstance(other, Mapping) else None
            named = f"row {number} ({sample})" if sample else f"row {number}"
            self.compare(file, own, other, named, told)

    def text(self, file: Path, published: str, computed: str) -> None:
        """A text line by line; the first line that differs is named. Numbers may differ by rounding only."""
        self.files.add(self.name(file))
        lines, expected = published.splitlines(), computed.splitlines()
        self.figures += len(expected)
        for number, (own, other) in enumerate(zip(lines, expected, strict=False), start=1):
            if not same_text(own, other):
                pairs = enumerate(zip(own, other, strict=False))
                at = next((place for place, (a, b) in pairs if a != b), min(len(own), len(other)))
                start = max(0, at - _SHOWN // 2)
                shown, given = own[start : start + _SHOWN], other[start : start + _SHOWN]
                self.differ(file, f"line {number} is {shown!r}, {STORED} {given!r}")
                return
        if len(lines) != len(expected):
            self.differ(file, f"has {len(lines)} lines, {STORED} {len(expected)}")

    def hashed(self, file: Path, expected: str) -> None:
        self.files.add(self.name(file))
        if not file.exists():
            self.differ(file, "is missing")
        elif hash_file(file) != expected:
            self.differ(file, "has changed since it was written (its hash differs)")

    @contextmanager
    def reading(self, file: Path) -> Iterator[None]:
        """What cannot be read, or lacks a field, is a difference and not the end of the check."""
        try:
            yield
        except FileNotFoundError as error:
            self.differ(Path(error.filename or file), "is missing")
        except (OSError, ValueError, LookupError, TypeError, AttributeError, UserError) as error:
            self.differ(file, f"cannot be checked: {type(error).__name__}: {error}")

    def differ(self, file: Path, what: str) -> None:
        self.files.add(self.name(file))
        found = Difference(self.name(file), what)
        if found not in self.differences:
            self.differences.append(found)

    def left_out(self, what: str) -> None:
        """Something that was not checked, and why."""
        self.unchecked[what] = None

    def name(self, file: Path) -> str:
        """A file as the reader knows it."""
        return str(file).removeprefix(f"{self.root}/")


def same(published: Any, computed: Any) -> bool:
    """Whether two leaves are equal but for rounding."""
    if isinstance(published, bool) or isinstance(computed, bool):
        return published is computed
    if isinstance(published, int | float) and isinstance(computed, int | float):
        return math.isclose(published, computed, rel_tol=_SAME, abs_tol=1e-12)
    return published == computed


def same_text(published: str, computed: str) -> bool:
    """Whether two texts are equal but for the last digits of long numbers, which another machine may round."""
    if published == computed:
        return True
    if _NUMBER.sub("0", published) != _NUMBER.sub("0", computed):
        return False
    pairs = zip(_NUMBER.findall(published), _NUMBER.findall(computed), strict=True)
    return all(own == other or (len(own) > 9 and same(float(own), float(other))) for own, other in pairs)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
