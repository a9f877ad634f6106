"""Who answered, compared: within a sweep, and with another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Answerers = Sequence[Mapping[str, Any]]
"""Rows with `model` (its name in the config), what the answers said of themselves, and their number, `answers`."""

FIELDS = {
    "answered_by": "the model that answered",
    "fingerprint": "its fingerprint",
    "provider": "its provider",
    "service_tier": "its service tier",
}


def changes_within(rows: Answerers) -> list[str]:
    """A sentence for each thing about a model that was not the same in all its answers."""
    return [
        f"{model}: {shown} changed during the sweep: {', then '.join(_counted(found))}."
        for model, name, shown in _asked(rows)
        if len(found := served(rows, model, name)) > 1
    ]


def changes_between(before: Answerers, after: Answerers) -> list[str]:
    """A sentence for each thing about a model that is not what it was. What one of them does not know is no change."""
    told: list[str] = []
    for model, name, shown in _asked(after):
        old, new = served(before, model, name), served(after, model, name)
        if old and new and set(old) != set(new):
            told.append(f"{model}: {shown} was {', '.join(old)} in the baseline and is {', '.join(new)} now")
    return told


def _asked(rows: Answerers) -> Iterator[tuple[str, str, str]]:
    for model in dict.fromkeys(row["model"] for row in rows):
        for name, shown in FIELDS.items():
            yield model, name, shown


def served(rows: Answerers, model: str, name: str) -> dict[str, int]:
    """By value, in the order of the rows, how many answers have it; what was not said is left out."""
    found: dict[str, int] = {}
    for row in rows:
        if row["model"] == model and row[name] is not None:
            found[row[name]] = found.get(row[name], 0) + row["answers"]
    return found


def _counted(found: Mapping[str, int]) -> list[str]:
    return [f"{value} ({count} answers)" for value, count in found.items()]
