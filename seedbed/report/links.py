"""Addresses inside a report: a figure leads to the samples it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from seedbed.analysis.score_table import TableKey
from seedbed.suite import Table


@dataclass(frozen=True, slots=True)
class LinkedTable(Table):
    """A table some of whose cells lead somewhere: addresses by row and column."""

    links: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])


def table_name(key: TableKey) -> str:
    """A table as addresses call it: suite, benchmark and model."""
    return "/".join(key)


def sample_link(key: TableKey, sample: str) -> str:
    """`#sample=ID&table=...`: one sample, opened."""
    return f"#sample={quote(sample, safe='')}&table={quote(table_name(key), safe='/')}"


def samples_link(key: TableKey, **chosen: str) -> str:
    """`#table=SUITE/BENCHMARK/MODEL&system=...&metric=...`: the samples of a table, as a reader would choose them."""
    parts = {"table": table_name(key), **chosen}
    return "#" + "&".join(f"{name}={quote(value, safe='/')}" for name, value in parts.items() if value)
