"""What a failure does to a search: it is tried again as often as it may, and never swallowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.teleprompt.bootstrap_trace import FailedPrediction, bootstrap_trace_data

from seedbed.errors import CellFailed
from seedbed.lm.runtime import Binding, LMRuntime, close_runtimes
from seedbed.phases.guard import Guard, GuardedLM, Halted, guarded
from tests.support.cells import prepared
from tests.support.lm import model, runtime, scope
from tests.support.loopback import Loopback

SWALLOWER = '''
import dspy
from seedbed import Budget, Options, optimizer

@optimizer("Swallower", options=Options, budget=lambda size: Budget(1))
def swallow(job) -> dspy.Module:
    """Goes on whatever happens, as some optimizers' threads do."""
    for example in job.train:
        try:
            job.program(**example.inputs())
        except BaseException:
            pass
    return job.program
'''
CONFIG = """\
name: swallowed
seeds: [0]
plugins: [swallower]
models:
  m: {model: offline/m, temperature: 0.7, retries: 0, backoff_s: 0.0, options: {errors: {server: 1.0}}}
experiments:
  - suite: prompt_optimization
    models: [m]
    benchmarks: [{name: AIMEBench, repeats: 1}]
    systems: [CoT]
    optimizers: [Swallower]
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _guarded(made: LMRuntime, server: Loopback, guard: Guard) -> GuardedLM:
    return GuardedLM(made, Binding(scope(), model(server, retries=1)), guard)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_retries_are_gone_through_twice_before_a_search_is_given_up(tmp_path: Path, asynchronous: bool) -> None:
    # Two tries a round: the fourth is the last of the second round.
    with Loopback(faults={"server": 1.0}, max_faults=3) as server, runtime(tmp_path, server, retries=1) as made:
        guard = Guard()
        lm = _guarded(made, server, guard)
        assert made.run(lm.acall("hello")) if asynchronous else lm("hello")
        assert guard.cause is None
        assert server.books.requests == 4


def test_after_two_rounds_the_search_ends_and_pays_for_nothing_more(tmp_path: Path) -> None:
    with Loopback(faults={"server": 1.0}, max_faults=99) as server, runtime(tmp_path, server, retries=1) as made:
        lm = _guarded(made, server, Guard())
        with pytest.raises(Halted):
            lm("hello")
        with pytest.raises(Halted):
            lm("another")
        assert server.books.requests == 4


def test_an_end_that_the_optimizer_swallows_is_raised_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "swallower.py").write_text(SWALLOWER, encoding="utf-8")
    config = tmp_path / "swallowed.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    ready = prepared(config, tmp_path / "out")
    (cell,) = ready.plan.cells
    with pytest.raises(CellFailed, match=r"the optimisation cannot go on \(server: "):
        ready.phase(cell, "optimise")
    assert not (ready.folder(cell) / "program.json").exists()


class _HalfRead(dspy.Module):
    """Its model's answer has one of two fields, and was asked for with less than the predictor's own signature."""

    def __init__(self) -> None:
        super().__init__()
        self.solve = dspy.Predict("question -> reasoning, answer")

    def forward(self, question: str) -> dspy.Prediction:
        asked = self.solve.signature.delete("reasoning")
        raise dspy.AdapterParseError("ChatAdapter", asked, "so I think", parsed_result={"reasoning": "so I think"})


def test_an_answer_that_is_read_in_part_is_traced_as_unreadable() -> None:
    guard, failed = Guard(), list[Any]()
    program = guarded(_HalfRead(), guard, lambda program: None, failed.append)
    example = dspy.Example(question="why?").with_inputs("question")
    (traced,) = bootstrap_trace_data(program, [example], metric=lambda *_: 1.0, num_threads=1, format_failure_score=0.0)
    assert isinstance(traced["prediction"], FailedPrediction)
    assert (traced["score"], guard.cause, guard.unreadable, failed) == (0.0, None, 1, [{"question": "why?"}])
