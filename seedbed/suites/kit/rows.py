"""The one reader of a user's rows: benchmarks, corpora, answers made elsewhere. CSV, TSV, JSON lines, JSON and Parquet.

Seedbed's own files are read with `seedbed.storage.store.read_jsonl`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from seedbed.errors import UserError
from seedbed.suites.kit.row_formats import file_rows
from seedbed.sweep.registry import nearest

M = TypeVar("M", bound=BaseModel)

_SHOWN = 60
_SAID = 1200


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and the line it begins on (of a Parquet file: the number of the row)."""

    path: Path
    line: int
    data: Mapping[str, Any]
    position: int = 0
    """Which row of the file it is, from 1: several may begin on one line."""

    def error(self, message: str) -> UserError:
        """What is wrong with the row, with file and line in front; the caller raises it. It stays one line, whatever
        the row's own words hold: line breaks, what a terminal would obey, or a whole page where a word belongs."""
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        if len(shown) > _SAID:
            # The field stands in front, the remedy at the end.
            shown = f"{shown[: _SAID // 4]} … {shown[-(_SAID * 3) // 4 :]}"
        return UserError(f"{self.path}:{self.line}: {shown}")

    def need(self, *names: str) -> Any:
        """The value of the first of these fields that the row has; without any of them it is refused."""
        for name in names:
            if self.data.get(name) is not None:
                return self.data[name]
        have = ", ".join(str(name)[:_SHOWN] for name in self.data) or "nothing"
        raise self.error(f"field {' or '.join(names)} is missing; the row has {have}.")

    def text(self, *names: str) -> str:
        """A text that must be there and say something."""
        value = self.need(*names)
        if not isinstance(value, str):
            raise self.wrong(self._name_of(*names), value, "is not a text; quote it")
        if not value.strip():
            raise self.error(f"field {self._name_of(*names)} is empty; give a text.")
        return value

    def texts(self, name: str) -> list[str]:
        """A field that may hold one text, a list of texts, or nothing; blank ones are left out."""
        value = self.data.get(name)
        items: Any = [value] if isinstance(value, str) else value or []
        if not isinstance(items, list) or not all(isinstance(item, str) for item in cast("list[Any]", items)):
            raise self.wrong(name, value, 'is no list of texts; write ["...", "..."]')
        return [item for item in cast("list[str]", items) if item.strip()]

    def identity(self, *names: str) -> str:
        """An id: a text or a whole number."""
        value = self.need(*names)
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise self.wrong(self._name_of(*names), value, "is no id; write a text or a whole number")
        return str(value)

    def number(self, *names: str) -> float:
        """A number of at least 0. In files that know only texts, such as CSV, it may be written as one."""
        value = self.need(*names)
        try:
            found = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if not 0 <= found < math.inf:
            raise self.wrong(self._name_of(*names), value, "is no number of at least 0; write one")
        return found

    def inner(self, name: str) -> Row:
        """An object within the row, at the same place."""
        value = self.need(name)
        if not isinstance(value, Mapping):
            raise self.wrong(name, value, "is no object; write {...}")
        return Row(self.path, self.line, cast("Mapping[str, Any]", value), self.position)

    def checked(self, kind: type[M]) -> M:
        """The row as that model; the first field that does not fit is named."""
        try:
            return kind.model_validate(self.data)
        except ValidationError as error:
            raise self.error(_explained(error, kind)) from None

    def wrong(self, name: str, value: object, what: str) -> UserError:
        """`what` says what the value is not, and the remedy."""
        shown = repr(value)
        return self.error(f"field {name}: {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'} {what}.")

    def _name_of(self, *names: str) -> str:
        return next((name for name in names if self.data.get(name) is not None), names[0])


def _explained(error: ValidationError, kind: type[BaseModel]) -> str:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"field {name}: unknown; {nearest(name, kind.model_fields)}"
    if first["type"] == "missing":
        return f"field {name}: is required; add it."
    shown = repr(first["input"])
    said = first["msg"].removeprefix("Value error, ")
    return f"field {name}: {said} (got {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'})."


@dataclass(slots=True)
class UniqueIds:
    """Ids that were met, and where."""

    name: str
    _lines: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, row: Row, value: str) -> str:
        """The id, if no row before this one has it."""
        if value in self._lines:
            first = self._lines[value]
            raise row.error(f"{self.name} {value[:_SHOWN]!r} stands twice, first on line {first}; make ids unique.")
        self._lines[value] = row.line
        return value


def numbered_rows(path: Path, *, shape: str = "{...}", key: str = "id") -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file with the lines they begin on; a file without any is refused.

    `shape` is what a row should look like, for messages. `key` names the field that takes the key of a row where a
    JSON file is an object of rows by key.
    """
    line = 0
    for line, row in file_rows(path, key):
        if not isinstance(row, dict):
            raise UserError(f"{path}:{line}: not an object but {type(row).__name__}; each row is {shape}.")
        yield line, cast("dict[str, Any]", row)
    if not line:
        raise UserError(f"{path}: holds no row; each is {shape}.")


def read_rows(path: Path, *, shape: str = "{...}", key: str = "id") -> Iterator[Row]:
    """`numbered_rows` as Row, which checks fields."""
    for position, (line, row) in enumerate(numbered_rows(path, shape=shape, key=key), start=1):
        yield Row(path, line, row, position)
