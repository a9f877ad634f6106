"""Makes the answers and scores of a cell again, from the replies in the ledger and without a call, and compares."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from seedbed.errors import ReplayMiss, SeedbedError
from seedbed.lm.ledger.reads import unanswered
from seedbed.lm.runtime import LMRuntime
from seedbed.phases.asked import asked_of
from seedbed.phases.context import CellContext, SweepRun
from seedbed.phases.generate import generate
from seedbed.phases.publish import OF_PHASES
from seedbed.phases.score import score
from seedbed.phases.verification.checker import Checker
from seedbed.storage.paths import read_bytes
from seedbed.storage.store import Store, read_jsonl
from seedbed.suite import GENERATE_TIMES
from seedbed.sweep.cell import Cell

_TOLD = "the replies in the ledger give"
_NEEDED = ("done", "program.json", "candidates.jsonl")
"""What a phase reads of those before it, beside the answers."""


class Aside:
    """A place of its own for what is made again: a folder, a copy of the ledger in it, and a runtime that calls no
    model."""

    def __init__(self, folder: Path, ledger: str, run: SweepRun) -> None:
        self.run = replace(run, store=Store(folder), ledger=ledger, replay=True)
        self._runtime: LMRuntime | None = None

    def runtime(self) -> LMRuntime:
        """The runtime; another one where a reply that was missing has stopped the last."""
        if self._runtime is not None and self._runtime.stopped.is_set():
            self.close()
        if self._runtime is None:
            config = self.run.plan.config
            self._runtime = LMRuntime(self.run.ledger_url, config.models, store_bodies=config.store_bodies, replay=True)
        return self._runtime

    def unanswered(self, cell: Cell) -> int:
        """How many of the cell's requests the ledger has no reply to."""
        return unanswered(self.runtime().ledger.engine, cell.id)

    def close(self) -> None:
        if self._runtime is not None:
            self._runtime.close()
            self._runtime = None


@dataclass(frozen=True)
class _AgainContext(CellContext):
    """A cell's context whose runtime ends with the check, and which sees other cells as they were published."""

    replayed: LMRuntime | None = None
    published: Store | None = None

    @property
    def runtime(self) -> LMRuntime:
        assert self.replayed is not None
        return self.replayed

    @property
    def _results(self) -> Store:
        assert self.published is not None
        return self.published


def check_again(check: Checker, run: SweepRun, cell: Cell, aside: Aside) -> None:
    """predictions.jsonl, scores.jsonl and the files that the suite's scorer writes."""
    published, folder = run.store.cell_dir(cell), aside.run.store.cell_dir(cell)
    folder.mkdir(parents=True)
    try:
        for name in _NEEDED:
            if (published / name).is_dir():
                shutil.copytree(published / name, folder / name)
            elif (published / name).exists():
                shutil.copyfile(published / name, folder / name)
        _answers(check, aside, cell, published, folder)
        _scores(check, aside, cell, published, folder, run.store)
    finally:
        shutil.rmtree(folder)


def _answers(check: Checker, aside: Aside, cell: Cell, published: Path, folder: Path) -> None:
    file = published / "predictions.jsonl"
    try:
        asked = asked_of(aside.run, cell)
        generate(_AgainContext(aside.run, cell, "generate", replayed=aside.runtime(), asked=asked), folder)
    except Exception as error:
        for name in (file.name, GENERATE_TIMES):
            if (published / name).exists():
                shutil.copyfile(published / name, folder / name)
        _not_made(check, file, "answers", aside, cell, error)
    else:
        before = len(check.differences)
        _compare_rows(check, file, folder / file.name)
        times = published / GENERATE_TIMES
        if len(check.differences) == before and times.exists():
            # Made again, these are others; what the scorer writes may hold them.
            shutil.copyfile(times, folder / GENERATE_TIMES)


def _scores(check: Checker, aside: Aside, cell: Cell, published: Path, folder: Path, results: Store) -> None:
    file = published / "scores.jsonl"
    try:
        context = _AgainContext(
            aside.run, cell, "score", replayed=aside.runtime(), published=results, asked=asked_of(aside.run, cell)
        )
        score(context, folder)
    except Exception as error:
        _not_made(check, file, "scores", aside, cell, error)
        return
    _compare_rows(check, file, folder / file.name)
    made = {path.name for path in folder.iterdir() if path.is_file()} - set(OF_PHASES)
    there = {path.name for path in published.iterdir() if path.is_file()} - set(OF_PHASES)
    for name in sorted(made | there):
        if name not in made:
            check.left_out(f"{check.name(published / name)}: no phase writes it")
        else:
            with check.reading(published / name):
                _suite_file(check, published / name, folder / name)


def _suite_file(check: Checker, published: Path, made: Path) -> None:
    if published.suffix == ".jsonl":
        _compare_rows(check, published, made)
    elif published.suffix == ".json":
        own, other = (json.loads(read_bytes(path)) for path in (published, made))
        check.compare(published, own, other, told=_TOLD)
    elif read_bytes(published) != read_bytes(made):
        check.differ(published, "is not what the suite writes from the stored answers")


def _compare_rows(check: Checker, published: Path, made: Path) -> None:
    check.rows(published, list(read_jsonl(published)), list(read_jsonl(made)), _TOLD)


def _not_made(check: Checker, file: Path, what: str, aside: Aside, cell: Cell, error: Exception) -> None:
    """A reply that the ledger should have is a difference; one it never had, or weights not at hand, is none."""
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, ReplayMiss) and (without := aside.unanswered(cell)):
        told = f"{without} of its requests have no reply on record"
        check.left_out(f"{what} of {cell.title!r}: they cannot be made again ({told})")
    elif isinstance(error, SeedbedError):
        check.differ(file, f"the {what} cannot be made again from the ledger: {told}")
    else:
        check.left_out(f"{what} of {cell.title!r}: they cannot be made again here ({told})")
