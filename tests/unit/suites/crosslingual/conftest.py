"""Cells of the suite run for real, phase by phase, with the offline model and a ledger; only Prefect is left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.storage.store import Store
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan


class Sweep:
    """A sweep of this suite in a folder; running it again there is a resumed run."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        experiment = {"suite": "crosslingual", "models": ["reader"]}
        experiment |= {name: changes.pop(name) for name in ("benchmarks", "systems") if name in changes}
        config = {
            "name": "tryout",
            "seeds": [0],
            "models": {"reader": {"model": "offline/reader"}, "translator": {"model": "offline/translator"}},
            "roles": {"translator": "translator"},
            "experiments": [experiment],
            **changes,
        }
        path = folder / "sweep.yaml"
        path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
        self.root = folder / "out"
        self.plan = make_plan(*load_config(path))
        self.folder = str(prepare(self.plan, self.root))

    def cell(self, label: str) -> Cell:
        return next(cell for cell in self.plan.cells if cell.label == label)

    def outputs(self, label: str) -> dict[str, dict[str, Any]]:
        """Sample -> what the system gave; a sample that failed is a failure of the test."""
        run_phase(self.folder, self.cell(label).id, "generate")
        return {row["sample_id"]: row.get("output") for row in self.rows(label, "predictions.jsonl")}

    def scores(self, label: str) -> dict[str, dict[str, Any]]:
        self.outputs(label)
        run_phase(self.folder, self.cell(label).id, "score")
        return {row["sample_id"]: row for row in self.rows(label, "scores.jsonl")}

    def metrics(self, label: str) -> Mapping[str, Any]:
        self.scores(label)
        path = Store(self.root).cell_dir(self.cell(label)) / "metrics.json"
        return json.loads(path.read_text(encoding="utf-8"))["metrics"][label]

    def rows(self, label: str, name: str) -> list[dict[str, Any]]:
        path = Store(self.root).cell_dir(self.cell(label)) / name
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def attempts(self, where: str = "1=1") -> list[Any]:
        """Rows of the ledger, oldest first."""
        engine = open_database(sqlite_url(self.root / "ledger.sqlite"))
        with reading(engine) as connection:
            rows = list(connection.execute(text(f"SELECT role, outcome, cell, sample FROM attempts WHERE {where}")))
        engine.dispose()
        return rows


MakeSweep = Callable[..., Sweep]


@pytest.fixture
def sweep(tmp_path: Path) -> Iterator[MakeSweep]:
    """`sweep(systems=[...], benchmarks=[...])`; a second call in a test resumes in the same folder, unless it names
    another."""

    def make(folder: str = "first", **changes: Any) -> Sweep:
        close_runtimes()
        (tmp_path / folder).mkdir(exist_ok=True)
        return Sweep(tmp_path / folder, **{"benchmarks": [{"name": "tiny", "limit": 12}], **changes})

    yield make
    close_runtimes()


def evidence(output: Mapping[str, Any]) -> Sequence[str]:
    """The texts before the model, in order."""
    return [block["text"] for block in output["evidence"]]


@pytest.fixture(scope="session")
def tiny_bge(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of a tiny embedder and reranker; tests that want them are skipped where FlagEmbedding is missing."""
    pytest.importorskip("FlagEmbedding", reason="extra `embeddings` is not installed")
    from tests.support.tiny_bge import build_tiny_bge

    return build_tiny_bge(tmp_path_factory.mktemp("bge"))
