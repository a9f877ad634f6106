"""Rows of the files a benchmark is read from, each with the place it stands at, so that errors can name it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError

_SQLITE_MAGIC = b"SQLite format 3\x00"
_LAW_COLUMNS = ("law_name", "article_id", "content")


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and the line it begins on."""

    path: Path
    line: int
    data: Mapping[str, Any]

    def error(self, message: str) -> UserError:
        return UserError(f"{self.path}:{self.line}: {message}")

    def text(self, field: str) -> str:
        """A field that must be there and hold a text."""
        value = self.data.get(field)
        if not isinstance(value, str) or not value.strip():
            have = ", ".join(self.data) or "nothing"
            raise self.error(f"field {field} is missing or no text; the row has {have}.")
        return value

    def texts(self, field: str) -> list[str]:
        """A field that may hold one text, a list of texts, or nothing."""
        value = self.data.get(field)
        items: list[Any] = [value] if isinstance(value, str) else list(value or ())
        if not all(isinstance(item, str) for item in items):
            raise self.error(f"field {field} must be a list of texts.")
        return [item for item in items if item.strip()]


def read_rows(path: Path) -> Iterator[Row]:
    """The objects of a JSONL file or of a JSON array."""
    if not path.exists():
        raise UserError(f"{path}: no such file.")
    text = path.read_text(encoding="utf-8-sig")
    rows = _array(path, text) if text.lstrip().startswith("[") else _lines(path, text)
    for line, data in rows:
        if not isinstance(data, dict):
            raise UserError(f"{path}:{line}: is {type(data).__name__}, not an object; each row is {{...}}.")
        yield Row(path, line, cast("dict[str, Any]", data))


def is_sqlite(path: Path) -> bool:
    with path.open("rb") as handle:
        return handle.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC


def read_law_database(path: Path) -> list[tuple[str, str, str]]:
    """(law_name, article_id, content) of every row of law_articles, in the order of its ids."""
    columns = ", ".join(_LAW_COLUMNS)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            found = {row[1] for row in connection.execute("PRAGMA table_info(law_articles)")}
            missing = [name for name in ("id", *_LAW_COLUMNS) if name not in found]
            if not found:
                raise UserError(
                    f"{path}: the database has no table law_articles; laws are read from "
                    "law_articles(id, law_name, article_id, content)."
                )
            if missing:
                raise UserError(f"{path}: the table law_articles has no column {missing[0]}; add it.")
            return connection.execute(f"SELECT {columns} FROM law_articles ORDER BY id").fetchall()  # noqa: S608
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path}: cannot be read as an SQLite database ({error}).") from None


def _lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    # Only line feeds part the rows: a JSON string may hold other characters that count as line ends elsewhere.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}:{number}: not valid JSON ({error.msg}); mend or remove the line.") from None


def _array(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not valid JSON ({error.msg}); mend the array.") from None
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return
        value, end = decoder.raw_decode(text, at)
        yield text.count("\n", 0, at) + 1, value
        at = end
