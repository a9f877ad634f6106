"""Laws kept in an SQLite database, as the source of this suite keeps them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from seedbed.errors import UserError

_SQLITE_MAGIC = b"SQLite format 3\x00"
_LAW_COLUMNS = ("law_name", "article_id", "content")


def is_database(path: Path) -> bool:
    """By its name or by how it begins."""
    if path.suffix in {".db", ".sqlite", ".sqlite3"}:
        return True
    if not path.is_file():
        return False
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
            rows = connection.execute(f"SELECT {columns} FROM law_articles ORDER BY id")  # noqa: S608
            return [(str(law), str(article), str(text)) for law, article, text in rows]
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path}: cannot be read as an SQLite database ({error}).") from None
