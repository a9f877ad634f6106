"""Which rows become cases, and in which split: by conditions, by lot, by a column."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from seedbed.suite import Case
from seedbed.suites.custom.options import Condition, Sampling, Splitting
from seedbed.suites.kit.rows import Row
from seedbed.sweep.registry import nearest

T = TypeVar("T")

_SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
}


def holds(where: Mapping[str, Any], row: Row) -> bool:
    """Whether a row meets all conditions."""
    return all(_meets(wanted, row, name) for name, wanted in where.items())


def _meets(wanted: Any, row: Row, name: str) -> bool:
    if name not in row.data:
        raise row.error(f"there is no column {name!r}, which `where` names; {nearest(name, map(str, row.data))}")
    value = row.data[name]
    if isinstance(wanted, Condition):
        return _fulfils(wanted, row, name, value)
    accepted = cast("list[Any]", wanted) if isinstance(wanted, list) else [wanted]
    return _key(value) in {_key(each) for each in accepted}


def _fulfils(wanted: Condition, row: Row, name: str, value: Any) -> bool:
    text = "" if value is None else str(value)
    refused = [wanted.is_not] if isinstance(wanted.is_not, str) else wanted.is_not or []
    if _key(value) in {_key(each) for each in refused}:
        return False
    if wanted.contains is not None and wanted.contains not in text:
        return False
    if wanted.matches is not None and not re.search(wanted.matches, text):
        return False
    if wanted.min is None and wanted.max is None:
        return True
    if value is None:
        return False
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise row.wrong(name, value, "is no number, and `where` compares it with one; mend it") from None
    return (wanted.min is None or number >= wanted.min) and (wanted.max is None or number <= wanted.max)


def _key(value: Any) -> str:
    """Values are compared as they are written: 3 in a config is '3' in a CSV file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def drawn(cases: Sequence[tuple[Case, T]], sample: Sampling) -> list[tuple[Case, T]]:
    """So many of the cases, in their order. Each has a lot of its own, so that a row more changes one case at most."""
    ranked = sorted(cases, key=lambda placed: _lot("sample", sample.seed, placed[0].sample_id))
    chosen = {case.sample_id for case, _ in ranked[: sample.n]}
    return [placed for placed in cases if placed[0].sample_id in chosen]


def split_by_column(cases: Sequence[tuple[Case, Row]], column: str) -> tuple[list[Case], list[Case], list[Case]]:
    found: dict[str, list[Case]] = {"train": [], "val": [], "test": []}
    for case, row in cases:
        if column not in row.data:
            raise row.error(
                f"there is no column {column!r}, which `split` names; {nearest(column, map(str, row.data))}"
            )
        name = _SPLITS.get(str(row.data[column]).strip().lower())
        if name is None:
            raise row.wrong(column, row.data[column], "is no split; write train, val or test")
        found[name].append(case)
    return found["train"], found["val"], found["test"]


def split_by_share(cases: Sequence[Case], split: Splitting) -> tuple[list[Case], list[Case], list[Case]]:
    """Clusters are shuffled and dealt out whole, so that nothing learnt from is tested on; each part keeps the order of
    the file."""
    groups = sorted({case.cluster or case.sample_id for case in cases}, key=lambda g: _lot("split", split.seed, g))
    first, second = round(len(groups) * split.train), round(len(groups) * (split.train + split.val))
    part = {group: 0 if place < first else 1 if place < second else 2 for place, group in enumerate(groups)}
    dealt: tuple[list[Case], list[Case], list[Case]] = ([], [], [])
    for case in cases:
        dealt[part[case.cluster or case.sample_id]].append(case)
    return dealt


def _lot(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()
