"""What the tests of this suite share: rows without a system, and cells run through the real phases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import open_run
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import CellResult, ScoreRow
from seedbed.suites.contract_risk import SUITE
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

SWEEP = """\
name: reviews
seeds: [0]
models:
  m: {{model: offline/m, temperature: {temperature}, options: {{ability: {ability}}}}}
experiments:
  - suite: contract_risk
    models: [m]
    benchmarks: [{{name: clauses, limit: {limit}{extra}}}]
    systems: [{systems}]
"""

REVIEW = """\
## 风险：{name}
- **等级**：{level}
- **证据**：{evidence}
- **分析**：略
- **法条**：{laws}
- **建议**：{advice}
"""


def review(level: str = "高", evidence: str = "无", laws: str = "无", advice: str = "删除", name: str = "某") -> str:
    return REVIEW.format(level=level, evidence=evidence, laws=laws, advice=advice, name=name)


def row(case: str, gold: str, pred: str | None, *, cluster: str | None = None, **details: Any) -> ScoreRow:
    """A scored row with as little as the aggregates need."""
    known = {"gold": gold, "pred": pred, "verifier": "lexical>=0.8", "evidence": [], "laws": [], **details}
    parsed = float(pred is not None)
    success = {"task_success_rate": 0.0, "task_success_lenient": 0.0}
    scores = {"accuracy": float(gold == pred), "parse_rate": parsed, **success}
    return ScoreRow(case, "ok", scores, known, cluster=cluster or case)


@pytest.fixture(scope="session")
def run_cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., list[CellResult]]]:
    """Generates and scores cells of the shipped clauses with the offline model, without a server."""

    def run(
        systems: Sequence[str], *, limit: int = 66, ability: float = 1.0, temperature: float = 0.0, extra: str = ""
    ) -> list[CellResult]:
        folder = tmp_path_factory.mktemp("sweep")
        config = folder / "reviews.yaml"
        text = SWEEP.format(
            systems=", ".join(systems), limit=limit, ability=ability, temperature=temperature, extra=extra
        )
        config.write_text(text, encoding="utf-8")
        plan = make_plan(*load_config(config))
        planned = prepare(plan, folder / "out")
        store = open_run(str(planned)).store
        cells: list[CellResult] = []
        for cell in plan.cells:
            if cell.system in SUITE.reference_systems and cell.system not in systems:
                continue  # tests ask for the cells they look at
            run_phase(str(planned), cell.id, "generate")
            run_phase(str(planned), cell.id, "score")
            where = store.cell_dir(cell)
            metrics = read_json(where / "metrics.json")["metrics"][cell.label]
            cells.append(CellResult(cell.benchmark, cell.label, cell.model, cell.seed, metrics, where))
        return cells

    yield run
    close_runtimes()


def scores_of(cell: CellResult) -> list[ScoreRow]:
    return [ScoreRow(**data) for data in read_jsonl(cell.folder / "scores.jsonl")]


def predictions_of(cell: CellResult) -> dict[str, Mapping[str, Any]]:
    return {data["sample_id"]: data.get("output") for data in read_jsonl(cell.folder / "predictions.jsonl")}


@pytest.fixture
def clause_file(tmp_path: Path) -> Callable[[Sequence[str]], Path]:
    def write(lines: Sequence[str]) -> Path:
        path = tmp_path / "cases.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write
