"""From cells to groups to the summary over seeds."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import call_span, cost_rows
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.fetched import fetched
from seedbed.phases.publish import Choices, publish
from seedbed.phases.score_tables import group_metrics
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.objects import send
from seedbed.storage.redact import telling_no_secret
from seedbed.storage.store import Store, read_json, read_json_if_there, read_jsonl, write_json
from seedbed.suite import Metric, ScoreRow, resolve
from seedbed.sweep.cell import Cell
from seedbed.sweep.registry import get_suite

GroupKey = tuple[str, str, str, int]


@telling_no_secret
def score_group(folder: str, group: GroupKey, finished: Sequence[str]) -> Path:
    """Pair the finished cells of a group and write their metrics together; returns the path."""
    run = open_run(folder)
    return _score_group(run, run.store, group, finished)


def _score_group(run: SweepRun, near: Store, group: GroupKey, finished: Sequence[str]) -> Path:
    """The same with cells whose files lie in `near`, where the metrics go too."""
    suite = get_suite(group[0])
    cells = [run.plan.cell(cell) for cell in finished]
    metrics = {cell.label: _cell_metrics(near, cell) for cell in cells}
    if suite.score_group is not None:
        rows = {cell.label: _score_rows(near, cell) for cell in cells}
        metrics = resolve(suite.score_group)(rows, metrics)
    target = near.group_dir(group) / "metrics.json"
    scores = {cell.label: cell.key("score") for cell in cells}
    write_json(target, {"metrics": metrics, "scores": scores, "generation": run.generation})
    return target


@telling_no_secret
def aggregate(
    folder: str,
    failures: Mapping[str, str],
    status: str,
    choices: Choices = Choices(),  # noqa: B008
) -> dict[str, Any]:
    """Write the summary of a sweep over its seeds and its report. `failures` maps the ids of cells without a result to
    the reason."""
    run = open_run(folder)
    with fetched(run) as near:
        return _aggregate(run, near, failures, status, choices)


def _aggregate(
    run: SweepRun, near: Store, failures: Mapping[str, str], status: str, choices: Choices
) -> dict[str, Any]:
    engine = open_database(run.ledger_url)
    try:
        costs = cost_rows(engine, run.plan.config.name, run.generation)
        who = answerers(engine, run.plan.config.name, run.generation)
        calls = call_span(engine, run.plan.config.name, run.generation)
    finally:
        engine.dispose()
    files = publish(near, run.plan, run.folder, costs, failures, status, choices, who, calls)
    return {"files": [str(path) for path in files], "status": status}


@telling_no_secret
def publish_again(run: SweepRun, choices: Choices) -> bool:
    """Pair the finished cells and write summary and report from what lies on the disk; False where nothing does.

    What a sweep that was killed had no time to say is said now: cells without a result are named.
    """
    finished = finished_cells(run)
    if not finished:
        return False
    before = read_json_if_there(run.folder / "summary.json") or {"missing": []}
    reasons = {entry["cell"]: entry["reason"] for entry in before["missing"]}
    missing = {cell.id: reasons.get(cell.title, "not finished") for cell in run.plan.cells if cell.id not in finished}
    status = before.get("status") or ("partial" if missing else "completed")
    with fetched(run) as near:
        _pair_again(run, near, finished)
        _aggregate(run, near, missing, status, choices)
    return True


def _pair_again(run: SweepRun, near: Store, finished: Container[str]) -> None:
    made = [
        _score_group(run, near, group, own)
        for group, cells in run.plan.groups().items()
        if (own := [cell.id for cell in cells if cell.id in finished])
    ]
    if near is not run.store:
        send(near.root, [path.relative_to(near.root).as_posix() for path in made], run.store.root)


def finished_cells(run: SweepRun) -> dict[str, dict[str, Any]]:
    """The cells whose scores lie on the disk, by id: what their marker says."""
    wanted = [Wanted(cell, "score", cell.key("score")) for cell in run.plan.cells]
    return {cell: marker for (cell, _), marker in done_markers(run.store, wanted, run.generation).items()}


def _cell_metrics(near: Store, cell: Cell) -> dict[str, Any]:
    return read_json(near.cell_dir(cell) / "metrics.json")["metrics"][cell.label]


def _score_rows(near: Store, cell: Cell) -> list[ScoreRow]:
    return [ScoreRow(**row) for row in read_jsonl(near.cell_dir(cell) / "scores.jsonl")]


def _plain_console(declared: Sequence[Metric], metrics: Mapping[str, Mapping[str, Any]]) -> str:
    def show(own: Mapping[str, Any], name: str, digits: int) -> str:
        value = own.get(name)
        return "-" if value is None else f"{value:.{digits}f}"

    return "\n".join(
        " | ".join([label, *(f"{m.label}={show(own, m.name, m.digits)}" for m in declared), f"n={own['n']}"])
        for label, own in metrics.items()
    )


def read_console(run: SweepRun) -> str:
    """The lines of all groups of a finished run, with a heading each."""
    parts: list[str] = []
    for group, cells in run.plan.groups().items():
        metrics = group_metrics(run.store, run.plan, group, cells)
        if metrics:
            suite, declared = get_suite(group[0]), run.plan.metrics(group[0])
            lines = resolve(suite.console)(metrics) if suite.console else _plain_console(declared, metrics)
            parts.append(f"{group[0]} · {group[1]} · {group[2]} · seed {group[3]}\n{lines}")
    return "\n\n".join(parts)
