"""Curves and slices found in any sweep: over candidates of an optimizer, over an option that varies, over facts of the
cases."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.results import Summary
from seedbed.analysis.score_table import ScoreTable
from seedbed.errors import UserError
from seedbed.report.links import LinkedTable, samples_link
from seedbed.report.plots import Centre, Curve
from seedbed.storage.store import Store, read_jsonl
from seedbed.suite import Case, Table
from seedbed.sweep.plan import Plan

_MAX_VALUES = 20
_MAX_CURVES = 12


def cases_of(plan: Plan, table: ScoreTable) -> Mapping[str, Case]:
    """The cases of a table by sample id; empty where their file has gone since."""
    try:
        return {case.sample_id: case for case in plan.benchmark(plan.cell(next(iter(table.cells.values()))[0].id)).test}
    except (OSError, UserError):
        return {}


@dataclass(frozen=True)
class Slice:
    """The first metric of a table by the values of one fact of its cases."""

    fact: str
    table: Table
    values: Sequence[str]
    dots: Mapping[str, Sequence[Centre]]
    """By system, a mean with its interval a value."""
    label: str


def slices(table: ScoreTable, cases: Mapping[str, Case]) -> list[Slice]:
    """For each fact of the cases with a few values (language, topic): the first metric by value and system."""
    metric = table.declared[0]
    if metric.name not in table.means:
        return []
    found: list[Slice] = []
    for fact, own in _facts(table, cases).items():
        values = sorted(set(own.values()))
        dots: dict[str, list[Centre]] = {label: [] for label in table.values}
        cells: dict[str, list[str | float | int | None]] = {value: [value] for value in values}
        for value in values:
            at = [i for i, sample in enumerate(table.sample_ids) if own.get(sample) == value]
            for label in table.values:
                centre, n = _centre(table, label, at)
                dots[label].append(centre)
                cells[value].append(_told(centre, n, metric.digits))
        named = fact.replace("_", " ")
        title = f"{metric.label} by {named}: {table.key[1]} · {table.key[2]}"
        note = "Means over seeds with 95% intervals over samples."
        links = {
            (row, column): samples_link(table.key, **{"system": label, "metric": metric.name, f"fact.{fact}": value})
            for row, value in enumerate(values)
            for column, label in enumerate(table.values, start=1)
        }
        shown = LinkedTable(title, [named, *table.values], list(cells.values()), note, links)
        found.append(Slice(fact, shown, values, dots, metric.label))
    return found


def _told(centre: Centre, n: int, digits: int) -> str | None:
    if centre.mean is None:
        return None
    around = "" if centre.low is None else f" [{centre.low:.{digits}f}, {centre.high:.{digits}f}]"
    return f"{centre.mean:.{digits}f}{around} (n={n})"


def _centre(table: ScoreTable, label: str, at: Sequence[int]) -> tuple[Centre, int]:
    """The mean of some samples with its interval, and how many there are."""
    import numpy as np

    metric = table.declared[0]
    column = table.values[label][list(at), 0]
    n = int((~np.isnan(column)).sum())
    if not n:
        return Centre(None), 0
    seeds = len(table.seeds[label])
    # Over several seeds a sample has a mean and is no longer right or wrong.
    kind = metric.kind if seeds == 1 else "mean"
    mean, low, high = mean_interval(
        column, clusters=table.clusters[list(at)].tolist(), value_range=metric.range, kind=kind
    )
    known = math.isfinite(low) and math.isfinite(high)
    return Centre(mean, low if known else None, high if known else None), n


def _facts(table: ScoreTable, cases: Mapping[str, Case]) -> dict[str, dict[str, str]]:
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for sample in table.sample_ids:
        for fact, value in (cases[sample].meta if sample in cases else {}).items():
            if isinstance(value, str | bool | int):
                values[fact][sample] = str(value)
    enough = len(table.sample_ids) / 2
    return {f: own for f, own in values.items() if 2 <= len(set(own.values())) <= min(_MAX_VALUES, enough)}


def option_curves(plan: Plan, summary: Summary, suite: str) -> dict[str, dict[str, list[Curve]]]:
    """Where variants of one system differ in one numeric option, the first metric over it; by option, panel."""
    metric = summary.metrics[suite][0].name
    found: dict[str, dict[str, list[Curve]]] = defaultdict(dict)
    for experiment in plan.config.experiments:
        if experiment.suite != suite:
            continue
        for name in dict.fromkeys(system.name for system in experiment.systems):
            variants = [system for system in experiment.systems if system.name == name]
            option = _varying([system.options for system in variants])
            if option is None:
                continue
            at = {s.shown: float(s.options[option]) for s in variants if _finite(s.options.get(option))}
            rows = [row for row in summary.rows if row.suite == suite and row.system in at]
            for table in dict.fromkeys(row.key for row in rows):
                own = [r for r in rows if r.key == table and r.metrics[metric].mean is not None]
                points = [(at[r.system], r.metrics[metric].mean or 0.0, r.samples[metric]) for r in own]
                points.sort(key=lambda point: point[0])
                if len(points) >= 3:
                    curve = _with_band(name, points)
                    found[option].setdefault(f"{table[1]} · {table[2]}", []).append(curve)
    return found


def _with_band(name: str, points: Sequence[tuple[float, float, Any]]) -> Curve:
    bands = [(s.ci_low, s.ci_high) for _, _, s in points]
    known = all(low is not None and high is not None for low, high in bands)
    return Curve(
        name,
        [x for x, _, _ in points],
        [y for _, y, _ in points],
        [low for low, _ in bands] if known else None,
        [high for _, high in bands] if known else None,
    )


def _varying(options: Sequence[Mapping[str, Any]]) -> str | None:
    """The one numeric option in which variants differ; None if there is none or another differs too."""
    if len(options) < 3:
        return None
    names = {name for own in options for name in own}
    differing = [name for name in names if len({repr(own.get(name)) for own in options}) > 1]
    if len(differing) != 1:
        return None
    return differing[0] if sum(_finite(own.get(differing[0])) for own in options) >= 3 else None


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def learning_curves(store: Store, table: ScoreTable) -> list[Curve]:
    """The best val score so far over metric calls, of every optimised cell."""
    curves: list[Curve] = []
    for label, cells in table.cells.items():
        for cell in cells:
            path = store.cell_dir(cell) / "candidates.jsonl"
            if not path.exists() or len(curves) >= _MAX_CURVES:
                continue
            points = sorted(
                (row["metric_calls"], row["val_score"])
                for row in read_jsonl(path)
                if row.get("metric_calls") is not None
                and row.get("val_score") is not None
                and row.get("whole_val", True)
            )
            best = [max(score for _, score in points[: place + 1]) for place in range(len(points))]
            if points:
                curves.append(Curve(f"{label}, seed {cell.seed}", [calls for calls, _ in points], best))
    return curves
