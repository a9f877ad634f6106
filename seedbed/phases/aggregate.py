"""From cells to groups to the summary over seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.cell import Cell
from seedbed.hashing import hash_json
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import cost_rows
from seedbed.manifest import manifest
from seedbed.phases.context import SweepRun, open_run
from seedbed.registry import get_suite
from seedbed.report.summary import Row, Summary, write_summary
from seedbed.stats import over_seeds
from seedbed.store import read_json, read_jsonl, write_json
from seedbed.suite import ScoreRow, Suite, resolve

GroupKey = tuple[str, str, str, int]


def score_group(folder: str, group: GroupKey, finished: Sequence[str]) -> dict[str, Any]:
    """Pair the finished cells of a group and write their metrics together; returns the path and the console lines."""
    run = open_run(folder)
    suite = get_suite(group[0])
    cells = [cell for cell in run.plan.groups()[group] if cell.id in set(finished)]
    metrics = {cell.label: _cell_metrics(run, cell) for cell in cells}
    if suite.score_group is not None:
        rows = {cell.label: _score_rows(run, cell) for cell in cells}
        metrics = resolve(suite.score_group)(rows, metrics)
    target = run.store.group_dir(group) / "metrics.json"
    write_json(target, {"metrics": metrics, "cells": {cell.label: cell.id for cell in cells}})
    console = resolve(suite.console)(metrics) if suite.console else _plain_console(suite, metrics)
    return {"path": str(target), "console": console}


def aggregate(folder: str, failures: Mapping[str, str], status: str) -> dict[str, Any]:
    """Write the summary of a sweep over its seeds. `failures` maps the ids of cells without a result to the reason."""
    run = open_run(folder)
    groups = _group_metrics(run)
    rows = [
        _row(suite, cells, [groups.get(cell.id) for cell in cells])
        for suite, cells in _over_seeds(run.plan.cells)
        if any(cell.id in groups for cell in cells)
    ]
    engine = open_database(run.ledger_url)
    costs = cost_rows(engine, run.plan.config.name)
    engine.dispose()
    summary = Summary(
        sweep=run.plan.config.name,
        status=status,
        simulated=run.plan.simulated,
        n_cells=len(run.plan.cells),
        rows=rows,
        missing=[{"cell": run.plan.cell(cell_id).title, "reason": reason} for cell_id, reason in failures.items()],
        costs=costs,
    )
    files = write_summary(run.folder, summary)
    write_json(run.folder / "manifest.json", _manifest(run, status))
    return {"files": [str(path) for path in files], "status": status}


def _cell_metrics(run: SweepRun, cell: Cell) -> dict[str, Any]:
    return read_json(run.store.cell_dir(cell) / "metrics.json")["metrics"][cell.label]


def _score_rows(run: SweepRun, cell: Cell) -> list[ScoreRow]:
    return [ScoreRow(**row) for row in read_jsonl(run.store.cell_dir(cell) / "scores.jsonl")]


def _group_metrics(run: SweepRun) -> dict[str, dict[str, Any]]:
    """Metrics by cell id, from the groups' files: they hold the paired ones too."""
    found: dict[str, dict[str, Any]] = {}
    for group, cells in run.plan.groups().items():
        path = run.store.group_dir(group) / "metrics.json"
        if not path.exists():
            continue
        data = read_json(path)
        for cell in cells:
            if data["cells"].get(cell.label) == cell.id:
                usage = read_json(run.store.cell_dir(cell) / "metrics.json")["usage"]
                found[cell.id] = {**data["metrics"][cell.label], "usage": usage}
    return found


def _over_seeds(cells: Sequence[Cell]) -> list[tuple[Suite, list[Cell]]]:
    """Cells that differ in their seed only, together."""
    families: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        families[(cell.suite, cell.benchmark, cell.system, cell.optimizer, cell.model)].append(cell)
    return [(get_suite(key[0]), family) for key, family in families.items()]


def _row(suite: Suite, cells: Sequence[Cell], found: Sequence[Mapping[str, Any] | None]) -> Row:
    present = [metrics for metrics in found if metrics is not None]
    first = cells[0]
    usages = [usage for metrics in present for usage in metrics["usage"].values()]
    return Row(
        suite=suite.name,
        benchmark=first.benchmark,
        system=first.system,
        optimizer=first.optimizer,
        model=first.model,
        metrics={m.name: over_seeds([metrics.get(m.name) for metrics in present]) for m in suite.metrics},
        n_seeds=len(present),
        n_seeds_planned=len(cells),
        n=sum(metrics["n"] for metrics in present),
        n_errors=sum(metrics["n_errors"] for metrics in present),
        n_skipped=sum(metrics["n_skipped"] for metrics in present),
        tokens_in=sum(usage["tokens_in"] for usage in usages),
        tokens_out=sum(usage["tokens_out"] for usage in usages),
        list_usd=_sum_known([usage["list_usd"] for usage in usages]),
        spent_usd=_sum_known([usage["spent_usd"] for usage in usages]),
    )


def _sum_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _plain_console(suite: Suite, metrics: Mapping[str, Mapping[str, Any]]) -> str:
    def show(own: Mapping[str, Any], name: str, digits: int) -> str:
        value = own.get(name)
        return "-" if value is None else f"{value:.{digits}f}"

    return "\n".join(
        " | ".join([label, *(f"{m.label}={show(own, m.name, m.digits)}" for m in suite.metrics), f"n={own['n']}"])
        for label, own in metrics.items()
    )


def _manifest(run: SweepRun, status: str) -> Mapping[str, Any]:
    return {
        **manifest(
            cell_id="",
            config_hash=hash_json(run.plan.config.model_dump(mode="json")),
            data_hash=hash_json(sorted(cell.id for cell in run.plan.cells)),
            simulated=run.plan.simulated,
        ),
        "sweep": run.plan.config.name,
        "status": status,
        "cells": [cell.id for cell in run.plan.cells],
    }


def read_console(folder: Path, plan_groups: Sequence[GroupKey]) -> str:
    """The lines of all groups of a finished run, with a heading each."""
    run = open_run(str(folder))
    parts: list[str] = []
    for group in plan_groups:
        path = run.store.group_dir(group) / "metrics.json"
        if path.exists():
            suite = get_suite(group[0])
            metrics = read_json(path)["metrics"]
            lines = resolve(suite.console)(metrics) if suite.console else _plain_console(suite, metrics)
            parts.append(f"{group[0]} · {group[1]} · {group[2]} · seed {group[3]}\n{lines}")
    return "\n\n".join(parts)
