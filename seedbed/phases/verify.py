"""Recomputes what a sweep published from the rows it stored, and says where the two differ.

Two questions are asked of every file. Is it, byte for byte, what was written (its hash is in a marker or the manifest)?
And do its figures follow from the rows below it, down to scores.jsonl and the ledger?
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from seedbed.errors import UserError
from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import cost_rows, phase_usage
from seedbed.phases.aggregate import finished_cells
from seedbed.phases.context import SweepRun
from seedbed.phases.publish import manifest_digest, read_choices
from seedbed.phases.result import program_scores, result_data, result_text
from seedbed.phases.scorers import cell_metrics
from seedbed.phases.summary import FILES, make_summary, summary_json
from seedbed.phases.uncounted import counted
from seedbed.report.html import read_embedded
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import ScoreRow, resolve
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.registry import get_suite

_SAME = 1e-9
_PHASES: tuple[Phase, ...] = ("optimise", "generate", "score")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something published that does not follow from what is stored."""

    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


@dataclass(frozen=True, slots=True)
class Verified:
    n_cells: int
    n_files: int
    n_figures: int
    differences: list[Difference]


class _Checker:
    """Compares and keeps count."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self.files: set[str] = set()
        self.figures = 0

    def compare(self, file: Path | str, published: Any, computed: Any, at: str = "") -> None:
        """Every leaf of two values; numbers may differ by rounding only."""
        self.files.add(str(file))
        if isinstance(computed, Mapping) and isinstance(published, Mapping):
            for key in dict.fromkeys([*computed, *published]):
                if key in computed and key in published:
                    self.compare(file, published[key], computed[key], f"{at}.{key}" if at else str(key))
                else:
                    self.differ(file, f"{at}.{key} is {'missing' if key in computed else 'not expected'}")
        elif isinstance(computed, list | tuple) and isinstance(published, list | tuple):
            if len(computed) != len(published):
                self.differ(file, f"{at} has {len(published)} entries, {len(computed)} are stored")
            for place, (own, other) in enumerate(zip(published, computed, strict=False)):
                self.compare(file, own, other, f"{at}[{place}]")
        else:
            self.figures += 1
            if not _same(published, computed):
                self.differ(file, f"{at} is {published!r}, the stored rows give {computed!r}")

    def text(self, file: Path, computed: str) -> None:
        """A text file, line by line; the first line that differs is named."""
        self.files.add(str(file))
        if not file.exists():
            return self.differ(file, "is missing")
        lines, expected = file.read_text(encoding="utf-8").splitlines(), computed.splitlines()
        self.figures += len(expected)
        for number, (own, other) in enumerate(zip(lines, expected, strict=False), start=1):
            if own != other:
                return self.differ(file, f"line {number} is {own[:120]!r}, the stored rows give {other[:120]!r}")
        if len(lines) != len(expected):
            self.differ(file, f"has {len(lines)} lines, the stored rows give {len(expected)}")
        return None

    def hashed(self, file: Path, expected: str) -> None:
        self.files.add(str(file))
        if not file.exists():
            self.differ(file, "is missing")
        elif hash_file(file) != expected:
            self.differ(file, "has changed since it was written (its hash differs)")

    @contextmanager
    def reading(self, file: Path) -> Iterator[None]:
        """What cannot be read, or lacks a field, is a difference and not the end of the check."""
        try:
            yield
        except (OSError, ValueError, LookupError, TypeError, UserError) as error:
            self.differ(file, f"cannot be checked: {type(error).__name__}: {error}")

    def differ(self, file: Path | str, what: str) -> None:
        self.differences.append(Difference(str(file), what))


def verify(run: SweepRun) -> Verified:
    """Check a sweep's run: its cells, its groups, its summary and its report."""
    check = _Checker()
    finished = finished_cells(run)
    engine = open_database(run.ledger_url)
    try:
        for cell in run.plan.cells:
            if cell.id in finished:
                with check.reading(run.store.cell_dir(cell)):
                    _check_cell(check, run, cell, engine)
        _check_groups(check, run, finished)
        with check.reading(run.folder / "manifest.json"):
            _check_manifest(check, run)
        with check.reading(run.folder / "summary.json"):
            _check_summary(check, run, engine, finished)
    finally:
        engine.dispose()
    return Verified(len(finished), len(check.files), check.figures, check.differences)


def _check_cell(check: _Checker, run: SweepRun, cell: Cell, engine: Engine) -> None:
    folder = run.store.cell_dir(cell)
    done: dict[Phase, dict[str, Any]] = {phase: read_json(folder / "done" / f"{phase}.json") for phase in _PHASES
            if (folder / "done" / f"{phase}.json").exists()}  # fmt: skip
    for phase, marker in done.items():
        for name, expected in marker.get("sha256", {}).items():
            check.hashed(folder / name, expected)
        check.compare(folder / "done" / f"{phase}.json", marker["key"], cell.key(phase), "key")
    published = read_json(folder / "metrics.json")
    rows = [ScoreRow(**row) for row in read_jsonl(folder / "scores.jsonl")]
    metrics = cell_metrics(run.plan.resolve(cell), rows)
    check.compare(folder / "metrics.json", published["metrics"], {cell.label: metrics}, "metrics")
    usage: dict[str, Any] = {
        phase: phase_usage(
            engine, cell.id, phase, (made := marker["result"])["execution"], made["generation"]
        ).to_json()
        for phase, marker in done.items()
    }
    if (made := done.get("generate", {}).get("result")) is not None:
        spec = run.plan.resolve(cell).system_spec
        usage["generate"] = counted(usage["generate"], spec, made["n"] - made["n_errors"])
    check.compare(folder / "metrics.json", published["usage"], usage, "usage (from the ledger)")
    check.compare(folder / "done/score.json", done["score"]["result"]["metrics"], metrics, "result.metrics")
    check.compare(folder / "done/score.json", done["score"]["result"]["usage"], usage, "result.usage")
    for phase, marker in done.items():
        if phase != "score":
            check.compare(folder / f"done/{phase}.json", marker["result"]["usage"], usage[phase], "result.usage")
    primary = run.plan.resolve(cell).metrics[0]
    percent, data = result_data(primary, cell, metrics, usage, program_scores(folder))
    check.compare(folder / "evaluation_results/result.json", _body(folder / "evaluation_results/result.json"), data)
    check.text(folder / "evaluation_results/evaluation_result.txt", result_text(percent, usage, data["optimizer"]))
    logged = [{"sample_id": r.sample_id, "status": r.status, "score": r.scores.get(primary.name)} for r in rows]
    log = folder / "metric_logs/test.jsonl"
    check.compare(log, list(read_jsonl(log)), logged)


def _check_groups(check: _Checker, run: SweepRun, finished: set[str]) -> None:
    for group, cells in run.plan.groups().items():
        own = [cell for cell in cells if cell.id in finished]
        path = run.store.group_dir(group) / "metrics.json"
        if not own:
            continue
        if not path.exists():
            check.differ(path, "is missing")
            continue
        with check.reading(path):
            _check_group(check, run, path, own)


def _check_group(check: _Checker, run: SweepRun, path: Path, own: list[Cell]) -> None:
    suite = get_suite(own[0].suite)
    rows = {cell.label: [ScoreRow(**row) for row in read_jsonl(run.store.cell_dir(cell) / "scores.jsonl")]
                    for cell in own}  # fmt: skip
    metrics = {cell.label: cell_metrics(run.plan.resolve(cell), rows[cell.label]) for cell in own}
    if suite.score_group is not None:
        metrics = resolve(suite.score_group)(rows, metrics)
    scores = {cell.label: cell.key("score") for cell in own}
    expected = {"metrics": metrics, "scores": scores, "generation": run.generation}
    check.compare(path, _body(path), expected)


def _check_manifest(check: _Checker, run: SweepRun) -> None:
    path = run.folder / "manifest.json"
    if not path.exists():
        return check.differ(path, "is missing; `seedbed report` writes it")
    data = read_json(path)
    if data.get("digest") != manifest_digest(data):
        check.differ(path, "has changed since it was written (its hash differs)")
    check.compare(path, data["cells"], [cell.id for cell in run.plan.cells], "cells")
    check.compare(path, data["config_hash"], run.plan.config_hash, "config_hash")
    for name, expected in data.get("files", {}).items():
        check.hashed(run.folder / name, expected)
    for name, expected in data.get("results", {}).items():
        check.hashed(run.store.root / name, expected)
    return None


def _check_summary(check: _Checker, run: SweepRun, engine: Engine, finished: set[str]) -> None:
    path = run.folder / "summary.json"
    if not path.exists():
        return check.differ(path, "is missing; `seedbed report` writes it")
    published = read_json(path)
    titles = {cell.title: cell.id for cell in run.plan.cells}
    failures: dict[str, str] = {}
    for entry in published["missing"]:
        if entry["cell"] in titles:
            failures[titles[entry["cell"]]] = entry["reason"]
        else:
            check.differ(path, f"missing names {entry['cell']!r}, which is no cell of this sweep")
    for cell in run.plan.cells:
        if cell.id not in finished and cell.id not in failures:
            check.differ(path, f"says nothing of {cell.title!r}, which has no result")
    choices = read_choices(run.folder)
    sweep = run.plan.config.name
    summary = make_summary(
        run.store,
        run.plan,
        cost_rows(engine, sweep, run.generation),
        failures,
        published["status"],
        baseline=choices.baseline,
        margin=choices.margin,
        answerers=answerers(engine, sweep, run.generation),
    )
    check.compare(path, published, summary_json(summary))
    for name, render in FILES.items():
        check.text(run.folder / name, render(summary))
    report = run.folder / "report.html"
    if report.exists():
        shown = read_embedded(report.read_text(encoding="utf-8"), "figures")
        check.compare(report, shown, _body_of(summary_json(summary)), "figures")
    return None


def _body(path: Path) -> dict[str, Any]:
    return _body_of(read_json(path))


def _body_of(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != "schema_version"}


def _same(published: Any, computed: Any) -> bool:
    if isinstance(published, bool) or isinstance(computed, bool):
        return published is computed
    if isinstance(published, int | float) and isinstance(computed, int | float):
        return math.isclose(published, computed, rel_tol=_SAME, abs_tol=1e-12)
    return published == computed
