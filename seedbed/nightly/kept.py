"""What a baseline keeps beside its scores, so that a later night can be crossed with it: answers, cases, models.

A fresh night writes over the answers of the run that was accepted, and a file of data is changed in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seedbed.phases.context import SweepRun
from seedbed.phases.predict import read_prediction
from seedbed.storage.hashing import hash_json
from seedbed.storage.paths import read_bytes
from seedbed.storage.store import read_json, read_jsonl, write_bytes, write_json, write_jsonl
from seedbed.suite import Case, Prediction
from seedbed.sweep.cell import Cell
from seedbed.sweep.model_config import ModelConfig

_INDEX = "kept.json"


@dataclass(frozen=True)
class Kept:
    """The answers of a run, the cases they were given to, and the models that gave and judged them."""

    cells: Mapping[str, Cell]
    """By folder, which names benchmark, system, optimizer, model and seed."""
    models: Mapping[str, ModelConfig]
    roles: Mapping[str, Mapping[str, str]]
    """By folder of the cell, the name of the model that played each role."""
    read_answers: Callable[[Cell], Mapping[str, Prediction]]
    read_cases: Callable[[Cell], Mapping[str, Case]]


def kept_of(run: SweepRun) -> Kept:
    """What a run whose files are still its own would keep."""
    return Kept(
        {cell.folder: cell for cell in run.plan.cells},
        run.plan.config.models,
        {cell.folder: dict(run.plan.resolve(cell).model_names) for cell in run.plan.cells},
        lambda cell: _answers(run.store.cell_dir(cell) / "predictions.jsonl"),
        lambda cell: {case.sample_id: case for case in run.plan.benchmark(cell).test},
    )


def keep(run: SweepRun, folder: Path) -> None:
    """Put all of it into a folder; the index, without which it does not count, last."""
    kept = kept_of(run)
    for cell in kept.cells.values():
        answers = run.store.cell_dir(cell) / "predictions.jsonl"
        write_bytes(folder / "answers" / f"{cell.id}.jsonl", read_bytes(answers))
        cases = folder / "cases" / _cases_name(cell)
        if not cases.exists():
            write_jsonl(cases, [asdict(case) for case in kept.read_cases(cell).values()])
    write_json(
        folder / _INDEX,
        {
            "cells": [asdict(cell) for cell in kept.cells.values()],
            "models": {name: model.model_dump(mode="json") for name, model in kept.models.items()},
            "roles": {name: dict(roles) for name, roles in kept.roles.items()},
        },
    )


def read_kept(folder: Path) -> Kept | None:
    """None for a baseline that was accepted before anything was kept, or whose folder is elsewhere."""
    if not (folder / _INDEX).exists():
        return None
    data: dict[str, Any] = read_json(folder / _INDEX)
    cells = [Cell(**cell) for cell in data["cells"]]
    return Kept(
        {cell.folder: cell for cell in cells},
        {name: ModelConfig.model_validate(model) for name, model in data["models"].items()},
        data["roles"],
        lambda cell: _answers(folder / "answers" / f"{cell.id}.jsonl"),
        lambda cell: _cases(folder / "cases" / _cases_name(cell)),
    )


def kept_folder(baseline: Path) -> Path:
    """Where a baseline keeps it: v0003.json has a folder v0003 beside it."""
    return baseline.with_suffix("")


def same_inputs(one: Case, other: Case) -> bool:
    return hash_json([dict(one.inputs), one.repeat]) == hash_json([dict(other.inputs), other.repeat])


def same_case(one: Case, other: Case) -> bool:
    return same_inputs(one, other) and hash_json([one.gold, dict(one.meta)]) == hash_json(
        [other.gold, dict(other.meta)]
    )


def _cases_name(cell: Cell) -> str:
    return f"{cell.experiment}_{cell.benchmark}.jsonl"


def _answers(path: Path) -> dict[str, Prediction]:
    return {row["sample_id"]: read_prediction(row) for row in read_jsonl(path)}


def _cases(path: Path) -> dict[str, Case]:
    return {row["sample_id"]: Case(**row) for row in read_jsonl(path)}
