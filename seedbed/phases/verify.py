"""Recomputes what a sweep published from the rows it stored, and says where the two differ.

Three questions are asked of a run. Is each file, byte for byte, what was written (its hash is in a marker or the
manifest)? Do its figures follow from the rows below it, down to scores.jsonl and the ledger? And do answers and scores
follow from the replies in the ledger? Nothing of the run is changed or added to; what was not looked at is said.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from seedbed.errors import UserError
from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.database import sqlite_url
from seedbed.lm.ledger.extract import extract_ledger
from seedbed.lm.ledger.read_only import ledger_to_read
from seedbed.lm.ledger.reads import call_span, cost_rows
from seedbed.phases.archive import Archive
from seedbed.phases.context import SweepRun
from seedbed.phases.scorers import cell_metrics
from seedbed.phases.verification.answers_again import Aside, check_again
from seedbed.phases.verification.archive_files import check_archive
from seedbed.phases.verification.cell_files import check_cell, check_identity
from seedbed.phases.verification.checker import Checker, Difference
from seedbed.phases.verification.look_files import check_looks
from seedbed.phases.verification.published_files import Accounted, check_published, missing_cases
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import ScoreRow, resolve
from seedbed.sweep.cell import Cell
from seedbed.sweep.registry import get_suite

__all__ = ["Difference", "Verified", "verify"]


@dataclass(frozen=True, slots=True)
class Verified:
    n_cells: int
    n_files: int
    n_figures: int
    differences: list[Difference]
    unchecked: list[str]
    """What was not looked at, a sentence each."""


def verify(run: SweepRun, *, again: bool = True, archive: Archive | None = None) -> Verified:
    """Check a run: its cells, its groups, its summary and its report; and the archive it came in. With `again`, answers
    and scores are made again from the ledger's replies."""
    check = Checker(archive.folder if archive else run.store.root)
    if archive is not None:
        check_archive(check, run, archive)
    finished = _finished(check, run)
    absent = missing_cases(run)
    for (_, benchmark), reason in absent.items():
        check.left_out(f"benchmark {benchmark!r}: its cases are not here ({reason}), so nothing that is made from them")
    with ExitStack() as stack:
        engine = _engine(check, run, stack)
        for cell in run.plan.cells:
            known = (cell.experiment, cell.benchmark) not in absent
            check_identity(check, run, cell, with_cases=known)
            if cell.id in finished or (run.store.cell_dir(cell) / "done" / "score.json").exists():
                with check.reading(run.store.cell_dir(cell)):
                    check_cell(check, run, cell, engine, with_cases=known)
        if again and engine is not None:
            _make_again(check, run, engine, [c for c in run.plan.cells if c.id in finished], absent)
        _check_groups(check, run, finished)
        check_looks(check, run)
        with check.reading(run.folder / "manifest.json"):
            check_published(check, run, _accounted(check, run, engine), finished, with_cases=not absent)
    _say_the_rest(check, run, again)
    return Verified(len(finished), len(check.files), check.figures, check.differences, list(check.unchecked))


def _finished(check: Checker, run: SweepRun) -> set[str]:
    """Ids of the cells whose scores are whole; a marker that cannot be read is named."""
    found: set[str] = set()
    for cell in run.plan.cells:
        with check.reading(run.store.cell_dir(cell) / "done" / "score.json"):
            if run.store.done(cell, "score", cell.key("score"), run.generation) is not None:
                found.add(cell.id)
    return found


def _engine(check: Checker, run: SweepRun, stack: ExitStack) -> Engine | None:
    try:
        return stack.enter_context(ledger_to_read(run.ledger_url))
    except UserError as error:
        check.differ(run.store.root / "ledger.sqlite", f"cannot be read: {error}")
        return None


def _accounted(check: Checker, run: SweepRun, engine: Engine | None) -> Accounted:
    """What the ledger knows of the sweep; what the run itself says where there is none."""
    if engine is not None:
        sweep = (engine, run.plan.config.name, run.generation)
        return Accounted(cost_rows(*sweep), answerers(*sweep), call_span(*sweep))
    check.left_out("calls, tokens, dollars and who answered when: there is no ledger to count them in")
    told = [row for row in read_json(run.folder / "summary.json")["costs"] if row["outcome"] != "uncounted"]
    manifest = read_json(run.folder / "manifest.json")
    return Accounted(told, manifest.get("answerers", []), manifest.get("calls"))


def _make_again(
    check: Checker, run: SweepRun, engine: Engine, cells: list[Cell], absent: dict[tuple[int, str], str]
) -> None:
    with _aside(run, engine) as aside:
        for cell in cells:
            if (cell.experiment, cell.benchmark) not in absent:
                with check.reading(run.store.cell_dir(cell)):
                    check_again(check, run, cell, aside)


@contextmanager
def _aside(run: SweepRun, engine: Engine) -> Iterator[Aside]:
    with tempfile.TemporaryDirectory(prefix="seedbed-") as folder:
        file = Path(folder) / "ledger.sqlite"
        extract_ledger(engine, run.plan.config.name, [cell.id for cell in run.plan.cells], file)
        aside = Aside(Path(folder), sqlite_url(file), run)
        try:
            yield aside
        finally:
            aside.close()


def _check_groups(check: Checker, run: SweepRun, finished: set[str]) -> None:
    for group, cells in run.plan.groups().items():
        own = [cell for cell in cells if cell.id in finished]
        path = run.store.group_dir(group) / "metrics.json"
        if own:
            with check.reading(path):
                _check_group(check, run, path, own)


def _check_group(check: Checker, run: SweepRun, path: Path, own: list[Cell]) -> None:
    suite = get_suite(own[0].suite)
    rows = {cell.label: [ScoreRow(**row) for row in read_jsonl(run.store.cell_dir(cell) / "scores.jsonl")]
                    for cell in own}  # fmt: skip
    metrics = {cell.label: cell_metrics(run.plan.resolve(cell), rows[cell.label]) for cell in own}
    if suite.score_group is not None:
        metrics = resolve(suite.score_group)(rows, metrics)
    scores = {cell.label: cell.key("score") for cell in own}
    expected = {"metrics": metrics, "scores": scores, "generation": run.generation}
    check.compare(path, {k: v for k, v in read_json(path).items() if k != "schema_version"}, expected)


def _say_the_rest(check: Checker, run: SweepRun, again: bool) -> None:
    if not again:
        check.left_out("whether answers and scores follow from the replies in the ledger (--published)")
    if any(cell.optimised for cell in run.plan.cells):
        check.left_out(
            "the search of optimizers: their files agree with each other; only `seedbed run --replay` searches again"
        )
    check.left_out(
        "versions, machine and times that manifests, markers and the ledger name, and how the run was started"
    )
    check.left_out("whether the models said what the ledger holds: only who asks them again can tell")
