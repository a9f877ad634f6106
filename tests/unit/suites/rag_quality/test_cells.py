"""The suite in cells: plan, generate and score as a sweep does them, without Prefect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.storage.store import Store, read_jsonl
from seedbed.suite import CellResult, Figure, Table
from seedbed.suites.rag_quality.report import console, report
from seedbed.suites.rag_quality.retrieval import DenseIndex, Passage, passages_of
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

pytestmark = pytest.mark.slow

CONFIG = """
name: t
seeds: [0]
models: {reader: {model: offline/reader, options: {ability: 1.0}}, judge: {model: offline/judge}}
roles: {judge: judge}
experiments:
  - suite: rag_quality
    models: [reader]
    benchmarks: [{name: sample, languages: [en, zh]}]
    systems: [given, bm25_rag, oracle_rag, closed_book]
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CellResult]]:
    root = tmp_path_factory.mktemp("rag")
    (root / "t.yaml").write_text(CONFIG, encoding="utf-8")
    plan = make_plan(*load_config(root / "t.yaml"))
    folder = str(prepare(plan, root / "out"))
    found: dict[str, CellResult] = {}
    for cell in plan.cells:
        run_phase(folder, cell.id, "generate")
        metrics = run_phase(folder, cell.id, "score")["metrics"]
        place = Store(root / "out").cell_dir(cell)
        found[cell.label] = CellResult(cell.benchmark, cell.label, cell.model, cell.seed, metrics, place)
    yield found
    close_runtimes()


def rows(cell: CellResult) -> list[dict[str, Any]]:
    return list(read_jsonl(cell.folder / "scores.jsonl"))


def mean_of(cell: CellResult, metric: str, *kinds: str) -> float:
    values = [row["scores"][metric] for row in rows(cell) if row["details"]["kind"] in kinds]
    return sum(values) / len(values)


def test_every_mean_has_its_counts(cells: dict[str, CellResult]) -> None:
    for cell in cells.values():
        for name in ("faithfulness", "answer_correctness"):
            counts = [cell.metrics[f"{name}_{count}"] for count in ("n_ok", "n_skipped", "n_error")]
            assert sum(counts) == 33


@pytest.mark.parametrize(
    ("metric", "better", "worse"),
    [
        ("faithfulness", ["good", "noise"], ["hallucination"]),
        ("faithfulness", ["hallucination"], ["wrong", "empty"]),
        ("context_relevance", ["good"], ["noise"]),
        ("context_recall", ["good"], ["missed", "empty"]),
        ("context_precision", ["good"], ["noise"]),
        ("answer_relevancy", ["good", "wrong"], ["off_topic", "missed"]),
        ("answer_correctness", ["good"], ["partial", "hallucination"]),
        ("answer_correctness", ["partial", "hallucination"], ["wrong", "off_topic"]),
    ],
)
def test_metrics_order_planted_kinds(
    cells: dict[str, CellResult], metric: str, better: Sequence[str], worse: Sequence[str]
) -> None:
    assert mean_of(cells["given"], metric, *better) > mean_of(cells["given"], metric, *worse)


def test_closed_book_has_no_contexts_to_judge(cells: dict[str, CellResult]) -> None:
    metrics = cells["closed_book"].metrics
    assert metrics["faithfulness"] is None
    assert metrics["context_recall"] is None
    assert metrics["answer_correctness"] is not None


def test_the_oracle_retrieves_perfectly(cells: dict[str, CellResult]) -> None:
    assert cells["oracle_rag"].metrics["context_precision"] == 1.0
    assert cells["oracle_rag"].metrics["context_recall"] == 1.0


def test_given_makes_no_call_to_the_task_model(cells: dict[str, CellResult]) -> None:
    history = list(read_jsonl(cells["given"].folder / "lm_history.jsonl"))
    assert {row["role"] for row in history} == {"judge"}


def test_console_shows_undefined_means_as_a_dash(cells: dict[str, CellResult]) -> None:
    lines = console({label: cell.metrics for label, cell in cells.items()}).splitlines()
    assert "Faithful=- (0/33/0)" in next(line for line in lines if line.startswith("closed_book"))


def test_the_report_has_tables_and_a_drawing(cells: dict[str, CellResult]) -> None:
    parts = report(list(cells.values()))
    assert [type(part) for part in parts] == [Table, Table, Table, Figure]
    figure = parts[-1]
    assert isinstance(figure, Figure)
    assert figure.svg.startswith("<svg")


def test_bm25_finds_across_scripts_and_leaves_out_strangers() -> None:
    index = passages_of([Passage("a", "渡轮横渡江面需要18分钟"), Passage("b", "The library has 96 seats")])
    assert [p.passage_id for p, _ in asyncio.run(index.search("横渡江面要多久", 2))] == ["a"]
    assert [p.passage_id for p, _ in asyncio.run(index.search("How many seats?", 2))] == ["b"]
    assert asyncio.run(index.search("???", 2)) == []


def test_dense_search_ranks_by_cosine(tmp_path: Path) -> None:
    def by_letters(texts: Sequence[str]) -> Any:
        counts = np.array([[text.count(letter) + 1e-6 for letter in "abc"] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    passages = passages_of([Passage("a", "aaa"), Passage("b", "bbb"), Passage("ab", "aab")])
    index = DenseIndex(passages, by_letters, "letters", tmp_path)
    assert [p.passage_id for p in asyncio.run(index.search("a", 2))] == ["a", "ab"]
