"""Real optimizers, which call from threads, copy LMs and swallow errors: the ledger has what the server counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.lm.runtime import LMRuntime
from tests.support.lm import assert_books_agree, runtime, scope
from tests.support.loopback import Loopback

FAULTS = {"rate_limit": 0.08, "server": 0.08, "reset": 0.08, "no_usage": 0.08}

TRAIN = [dspy.Example(question=f"Is {n} even?", answer="yes").with_inputs("question") for n in range(12)]


def metric(example: Any, prediction: Any, *_: Any) -> float:
    return float(example.answer == prediction.answer)


def feedback(example: Any, prediction: Any, *_: Any) -> Any:
    return dspy.Prediction(score=metric(example, prediction), feedback="Say yes.")


def _bootstrap(_lm: dspy.LM) -> None:
    program = dspy.Predict("question -> answer")
    dspy.BootstrapFewShot(metric=metric, max_bootstrapped_demos=12, max_rounds=2).compile(program, trainset=TRAIN)


def _simba(_lm: dspy.LM) -> None:
    program = dspy.Predict("question -> answer")
    dspy.SIMBA(metric=metric, bsize=6, num_candidates=2, max_steps=2, num_threads=8).compile(
        program, trainset=TRAIN, seed=1
    )


def _miprov2(lm: dspy.LM) -> None:
    program = dspy.Predict("question -> answer")
    optimizer = dspy.MIPROv2(
        metric=metric, auto=None, num_candidates=2, num_threads=8, max_bootstrapped_demos=1, max_labeled_demos=1,
        prompt_model=lm, task_model=lm, seed=1,
    )  # fmt: skip
    optimizer.compile(program, trainset=TRAIN[:8], valset=TRAIN[8:], num_trials=2, minibatch=False)


def _gepa(lm: dspy.LM) -> None:
    program = dspy.Predict("question -> answer")
    optimizer = dspy.GEPA(metric=feedback, max_metric_calls=30, reflection_lm=lm, num_threads=8, seed=1)
    optimizer.compile(program, trainset=TRAIN[:8], valset=TRAIN[8:])


@pytest.mark.parametrize("optimise", [_bootstrap, _simba, _miprov2, _gepa])
def test_an_optimizers_calls_are_all_on_record(tmp_path: Path, optimise: Callable[[dspy.LM], None]) -> None:
    with Loopback(faults=FAULTS, seed=2) as server:
        with runtime(tmp_path, server) as made:
            _optimise(made, optimise, "first")
            first = assert_books_agree(tmp_path, server)
            requests = server.books.requests
        assert first.outcomes["paid"] > 10
        assert server.books.faults.total() > 0
        # Run again, as after a crash: the same requests, none of them paid.
        with runtime(tmp_path, server) as made:
            _optimise(made, optimise, "second")
            again = assert_books_agree(tmp_path, server)
        assert again.outcomes["paid"] == first.outcomes["paid"]
        assert server.books.requests == requests
        assert again.spent_usd == first.spent_usd


def _optimise(made: LMRuntime, optimise: Callable[[dspy.LM], None], execution: str) -> None:
    import random

    random.seed(0)
    lm = made.lm(scope(phase="optimise", execution=execution))
    with dspy.context(lm=lm, disable_history=True):
        optimise(lm)
