"""When a search that scores by `dspy.Evaluate` ends before its budget is used, and with which program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import dspy
import pytest

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.optimizers.plateau import until_flat
from seedbed.sweep.optimizers import Job, StopOptions
from tests.support.cells import prepared

EXAMPLES = [dspy.Example(n=n).with_inputs("n") for n in range(10)]

CONFIG = """\
name: search
seeds: [0]
models:
  small: {{model: offline/small, temperature: 0.7, options: {{ability: 0.92, noise: 0.05}}}}
experiments:
  - suite: prompt_optimization
    models: [small]
    benchmarks: [{{name: AIMEBench, repeats: 1}}]
    systems: [CoT]
    optimizers: ['Baseline', {optimizer}]
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


class Right(dspy.Module):
    """Right about so many of the examples."""

    def __init__(self, right: int) -> None:
        super().__init__()
        self.right = right

    def forward(self, n: int) -> dspy.Prediction:
        return dspy.Prediction(score=float(n < self.right))


def _metric(_: Any, prediction: Any, trace: Any = None) -> float:
    return prediction.score


def _walk(scores: Sequence[int], patience: int | None, *, minibatch: int | None = None) -> tuple[int, list[int]]:
    """Of a search that scores programs one after the other: the score of what it returns, and what it asked."""
    asked: list[int] = []
    stop = None if patience is None else StopOptions(patience=patience)
    job = cast(Job, SimpleNamespace(options=SimpleNamespace(stop=stop)))
    evaluate = dspy.Evaluate(devset=EXAMPLES, metric=_metric, num_threads=1, display_progress=False)

    def search() -> dspy.Module:
        for score in scores:
            evaluate(Right(score), devset=EXAMPLES[:minibatch])
            asked.append(score)
        return Right(99)

    return cast(Right, until_flat(job, search)).right, asked


def test_a_search_ends_after_so_many_programs_that_are_no_better_and_returns_the_best() -> None:
    assert _walk([2, 5, 4, 5, 3, 9], patience=3) == (5, [2, 5, 4, 5, 3])


def test_a_better_program_starts_the_count_anew() -> None:
    assert _walk([2, 1, 3, 2, 4, 3, 3, 9], patience=2) == (4, [2, 1, 3, 2, 4, 3, 3])


def test_a_search_without_stop_uses_its_budget() -> None:
    assert _walk([2, 2, 2, 2], patience=None) == (99, [2, 2, 2, 2])


def test_minibatches_are_no_rounds() -> None:
    assert _walk([2, 2, 2, 2], patience=1, minibatch=5) == (99, [2, 2, 2, 2])


def _searched(folder: Path, optimizer: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    config = folder / "search.yaml"
    config.write_text(CONFIG.format(optimizer=optimizer), encoding="utf-8")
    ready = prepared(config, folder / "out")
    cell = ready.plan.cells[1]
    return ready.phase(cell, "optimise"), ready.rows(cell, "candidates.jsonl")


@pytest.mark.slow
def test_mipro_ends_at_a_plateau_with_the_best_program_of_the_whole_val_split(tmp_path: Path) -> None:
    done, rows = _searched(tmp_path, "{name: MIPROv2-Light, stop: {patience: 1}}")
    whole = [row for row in rows if row["whole_val"]]
    last = max(whole, key=lambda row: row["metric_calls"])
    assert done["val_score_after"] == max(row["val_score"] for row in whole)
    assert last["val_score"] <= done["val_score_after"]
    assert not last["chosen"], "the one that was no better is the last"


@pytest.mark.slow
def test_copro_ends_at_a_depth_that_is_no_better(tmp_path: Path) -> None:
    short, rows = _searched(tmp_path, "{name: COPRO, breadth: 3, depth: 6, stop: {patience: 1}}")
    each = 3 * short["n_train"]
    depths = short["metric_calls"] / each
    assert depths == int(depths) < 6, "whole depths: the program as it was written is the last of the first"
    best = next(row for row in rows if row["chosen"])
    assert best["train_score"] == max(row["train_score"] for row in rows if row["n_train"])
