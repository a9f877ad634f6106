"""Addresses inside a report: a figure leads to the samples it was made of."""

from __future__ import annotations

from urllib.parse import quote

from seedbed.analysis.score_table import TableKey


def table_name(key: TableKey) -> str:
    """A table as addresses call it: suite, benchmark and model."""
    return "/".join(key)


def samples_link(key: TableKey, **chosen: str) -> str:
    """`#table=SUITE/BENCHMARK/MODEL&system=...&metric=...`: the samples of a table, as a reader would choose them."""
    parts = {"table": table_name(key), **chosen}
    return "#" + "&".join(f"{name}={quote(value, safe='/')}" for name, value in parts.items() if value)
