"""What can be done to a file of results, whatever it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.support.forgeries.copies import Change, Copy


def replaced(name: str, old: str, new: str, count: int = 1) -> Change:
    """One text for another, the first time it stands there."""

    def change(copy: Copy) -> None:
        path = copy.path(name)
        text = path.read_text(encoding="utf-8")
        found, times = re.subn(old, new, text, count=count)
        assert times, f"{old!r} does not stand in {name}"
        assert found != text
        path.write_text(found, encoding="utf-8")

    return change


def edited(name: str, edit: Callable[[Any], Any]) -> Change:
    """A JSON file with something else in it."""

    def change(copy: Copy) -> None:
        path = copy.path(name)
        data = json.loads(path.read_text(encoding="utf-8"))
        given = edit(data)
        text = json.dumps(data if given is None else given, ensure_ascii=False, indent=2) + "\n"
        path.write_text(text, encoding="utf-8")

    return change


def rows_edited(name: str, edit: Callable[[list[Any]], Any]) -> Change:
    """A JSONL file with other rows."""

    def change(copy: Copy) -> None:
        path = copy.path(name)
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        before = json.dumps(rows)
        given = edit(rows)
        rows = rows if given is None else given
        assert json.dumps(rows) != before, "nothing was forged"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

    return change


def swap(name: str, field: str) -> Change:
    """Two samples change places in one field."""

    def edit(rows: list[Any]) -> None:
        other = next(row for row in rows[1:] if row[field] != rows[0][field])
        rows[0][field], other[field] = other[field], rows[0][field]

    return rows_edited(name, edit)


def put(*keys: Any, to: Any) -> Callable[[Any], None]:
    """An edit that sets what lies at the keys, or changes it by a function."""

    def edit(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = to(data[keys[-1]]) if callable(to) else to

    return edit


def more(value: float) -> float:
    return value + 1
