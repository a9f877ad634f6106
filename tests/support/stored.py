"""Cells whose files a test writes itself: a plan, and what its phases would have left, with nothing run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seedbed.storage.store import Done, Store, read_json, write_json, write_jsonl
from seedbed.suite import ScoreRow
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan


@dataclass(frozen=True)
class Stored:
    plan: Plan
    store: Store

    def cell(self, label: str, seed: int = 0, benchmark: str | None = None) -> Cell:
        return next(
            c for c in self.plan.cells if (c.label, c.seed) == (label, seed) and benchmark in (None, c.benchmark)
        )

    def folder(self, cell: Cell) -> Path:
        return self.store.cell_dir(cell)

    def answered(self, cell: Cell, rows: Iterable[Mapping[str, Any]] = (), **result: Any) -> None:
        """As after the phase generate: rows of predictions.jsonl, and what the marker says."""
        self.store.claim_folder(cell)
        write_jsonl(self.folder(cell) / "predictions.jsonl", rows)
        self.done(cell, "generate", ["predictions.jsonl"], **result)

    def scored(self, cell: Cell, rows: Iterable[ScoreRow], **result: Any) -> None:
        """As after the phase score: rows of scores.jsonl, and what the marker says."""
        self.store.claim_folder(cell)
        write_jsonl(self.folder(cell) / "scores.jsonl", [asdict(row) for row in rows])
        self.done(cell, "score", ["scores.jsonl"], **result)

    def figures(self, cell: Cell, metrics: Mapping[str, Any], usage: Mapping[str, Any]) -> None:
        """The figures of a cell alone in its group."""
        write_json(self.folder(cell) / "metrics.json", {"metrics": {cell.label: dict(metrics)}, "usage": dict(usage)})

    def done(self, cell: Cell, phase: Phase, files: Iterable[str] = (), **result: Any) -> None:
        made = Done(cell.key(phase), self.plan.generation, cell.parts(phase), files, result)
        self.store.mark_done(cell, phase, made)

    def finished_at(self, cell: Cell, phase: Phase, at: float) -> None:
        """Another time in the marker of a phase."""
        path = self.folder(cell) / "done" / f"{phase}.json"
        marker = {name: value for name, value in read_json(path).items() if name != "schema_version"}
        write_json(path, {**marker, "finished_at": at})


def stored(folder: Path, config: str) -> Stored:
    """The plan of a config, and an empty folder for its results."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    return Stored(make_plan(*load_config(folder / "config.yaml")), Store(folder / "out"))
