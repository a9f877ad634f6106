"""The nightlies of a sweep, one row each, and how their figures moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.nightly.baseline import Entry
from seedbed.nightly.gate import GateResult
from seedbed.storage.objects import subfolders
from seedbed.storage.store import Store, read_json, write_bytes, write_json
from seedbed.sweep.manifest import git_state

SHOWN = 30
"""Nights in the table and the plot."""
_MARKS = {"pass": ("o", "#1b7837"), "fail": ("X", "#b2182b"), "inconclusive": ("D", "#777777")}


def folder(store: Store, sweep: str) -> Path:
    return store.root / "nightly" / sweep


def night_row(run: str, at: str, status: str, result: GateResult, night: Sequence[Entry]) -> dict[str, Any]:
    """A night as one row: verdict, cost, errors, latency and the judged figures of each system, with their n."""
    figures = [own for entry in night for own in entry.figures.values()]
    usd = [own.list_usd for own in figures]
    samples = sum(own.n_samples for own in figures)
    return {
        "run": run,
        "at": at,
        "commit": dict(git_state()).get("commit"),
        "status": status,
        "verdict": result.verdict,
        "headline": result.headline,
        "baseline": result.baseline,
        "n_samples": samples,
        "n_errors": sum(own.n_errors for own in figures),
        "list_usd": None if None in usd or not usd else sum(value for value in usd if value is not None),
        "figures": _judged_means(result, night),
    }


def add_night(store: Store, sweep: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put a night on record, a file each, so that nobody has to wait for anybody; returns all nights."""
    write_json(folder(store, sweep) / "nights" / f"{row['run']}.json", row)
    return read_history(store, sweep)


def read_history(store: Store, sweep: str) -> list[dict[str, Any]]:
    """All nights of a sweep, oldest first."""
    nights = folder(store, sweep) / "nights"
    return [read_json(nights / name) for name in subfolders(nights) if name.endswith(".json")]


def table(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The last nights as flat rows, newest first, for a table of the UI or a page."""
    return [
        {
            "night": row["at"],
            "verdict": row["verdict"],
            **{name: _shown(figure) for name, figure in row["figures"].items()},
            "errors": f"{row['n_errors']} of {row['n_samples']}",
            "list $": "-" if row["list_usd"] is None else f"{row['list_usd']:.4f}",
            "commit": (row["commit"] or "-")[:8],
            "why": row["headline"].partition(": ")[2],
        }
        for row in list(rows)[: -SHOWN - 1 : -1]
    ]


def plot(store: Store, sweep: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """history.png: the judged figures of the last nights, each night marked with its verdict."""
    from seedbed.report.canvas import panels, rendered, style

    shown = list(rows)[-SHOWN:]
    with style():
        drawing, (axis, *_) = panels([f"Nightly runs of {sweep}"], 3.2)
        _draw_figures(axis, shown)
        _mark_verdicts(axis, shown)
        ticks = range(0, len(shown), max(1, len(shown) // 10))
        axis.set_xticks(ticks, [shown[i]["at"][5:16].replace("T", "\n") for i in ticks], fontsize=7)
        if any(row["figures"] for row in shown):
            drawing.legend(fontsize=7, loc="outside right center")
        path = folder(store, sweep) / "history.png"
        write_bytes(path, rendered(drawing, "history", sweep).png)
    return path


def _draw_figures(axis: Any, shown: Sequence[Mapping[str, Any]]) -> None:
    from seedbed.report.canvas import COLOURS, DASHES

    for place, name in enumerate(sorted({name for row in shown for name in row["figures"]})):
        points = [(i, f["mean"]) for i, row in enumerate(shown) if (f := row["figures"].get(name)) is not None]
        look = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place % len(DASHES)]}
        axis.plot(*zip(*points, strict=True), linewidth=1.2, label=name, **look)


def _mark_verdicts(axis: Any, shown: Sequence[Mapping[str, Any]]) -> None:
    for verdict, (marker, colour) in _MARKS.items():
        points = [
            (i, f["mean"]) for i, row in enumerate(shown) if row["verdict"] == verdict for f in row["figures"].values()
        ]
        if points:
            axis.scatter(*zip(*points, strict=True), marker=marker, color=colour, zorder=3, s=30, label=verdict)


def _judged_means(result: GateResult, night: Sequence[Entry]) -> dict[str, Any]:
    """By `benchmark · system · metric`: mean and n over samples; the first metric where nothing was compared."""
    import numpy as np

    judged = {(c.suite, c.benchmark, c.model, c.label, c.metric) for c in result.comparisons}
    found: dict[str, Any] = {}
    for entry in night:
        table = entry.table
        for label, values in table.values.items():
            names = [m for m in table.metrics if (*table.key, label, m) in judged] or table.metrics[:1]
            for name in names:
                column = values[:, list(table.metrics).index(name)]
                known = column[~np.isnan(column)]
                shown = table.metric(name).label
                if len(known):
                    found[f"{table.key[1]} · {label} · {shown}"] = {"mean": float(known.mean()), "n": len(known)}
    return found


def _shown(figure: Mapping[str, Any]) -> str:
    return f"{figure['mean']:.3f} (n={figure['n']})"
