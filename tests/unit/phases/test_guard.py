"""What a failure does to a search: it is tried again as often as it may, and never swallowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.signatures import make_signature
from dspy.teleprompt.bootstrap_trace import FailedPrediction, bootstrap_trace_data

from seedbed.errors import BudgetReached, CellFailed, Interrupted, ProviderError, SeedbedError
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


def _unreadable(asked: Any = None) -> Any:
    """A reply in which one field was found, and others were asked for."""
    error: Any = dspy.AdapterParseError
    return error(
        "ChatAdapter",
        asked or make_signature("question -> answer"),
        "so I think",
        parsed_result={"reasoning": "so I think"},
    )


class _HalfRead(dspy.Module):
    """Its model's answer has one of two fields, and was asked for with less than the predictor's own signature."""

    def __init__(self) -> None:
        super().__init__()
        self.solve = dspy.Predict("question -> reasoning, answer")

    def forward(self, question: str) -> dspy.Prediction:
        signature: Any = self.solve.signature
        raise _unreadable(signature.delete("reasoning"))


def test_an_answer_that_is_read_in_part_is_traced_as_unreadable() -> None:
    guard, failed = Guard(), list[Any]()
    program = guarded(_HalfRead(), guard, lambda program: None, failed.append)
    example = dspy.Example(question="why?").with_inputs("question")
    (traced,) = bootstrap_trace_data(program, [example], metric=lambda *_: 1.0, num_threads=1, format_failure_score=0.0)
    assert isinstance(traced["prediction"], FailedPrediction)
    assert (traced["score"], guard.cause, guard.unreadable, failed) == (0.0, None, 1, [{"question": "why?"}])


def _as_program(error: Exception) -> Exception:
    """The error as it comes out of the program that asked."""
    made = RuntimeError("the program")
    made.__cause__ = error
    return made


def test_a_candidates_own_failures_are_counted_and_end_nothing() -> None:
    guard = Guard()
    error = _unreadable()
    assert guard.judge_failure(error) is error
    long = ProviderError("context_length", "too long")
    assert guard.judge_failure(long) is long
    assert (guard.unreadable, guard.too_long, guard.cause) == (1, 1, None)
    guard.check()


def test_a_prompt_that_was_too_long_counts_once_though_its_programs_fail_by_it_too() -> None:
    guard = Guard()
    long = ProviderError("context_length", "too long")
    assert guard.judge_failure(long) is long
    assert guard.judge_failure(_as_program(long)) is not None
    assert guard.judge_failure(_as_program(_as_program(long))) is not None
    assert guard.too_long == 1
    guard.judge_failure(_as_program(ProviderError("context_length", "another")))
    assert (guard.too_long, guard.cause) == (2, None)


def test_any_other_failure_ends_the_search_and_the_first_is_its_reason() -> None:
    guard = Guard()
    first, second = ProviderError("auth", "no key"), ValueError("broke")
    assert isinstance(guard.judge_failure(first), Halted)
    assert str(guard.judge_failure(second)) == "broke"
    assert guard.cause is first
    with pytest.raises(Halted, match="no key"):
        guard.check()


@pytest.mark.parametrize("stop", [BudgetReached("enough"), Interrupted("stopped")])
def test_a_stop_of_the_sweep_is_reported_as_it_is(stop: SeedbedError) -> None:
    guard = Guard()
    guard.halt(_as_program(stop))
    assert guard.reason("a cell") is stop


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (ProviderError("auth", "no key"), "(auth: no key)"),
        (_as_program(ProviderError("server", "down")), "(server: down)"),
        (ValueError("broke"), "(ValueError: broke)"),
    ],
)
def test_another_end_is_the_failure_of_the_cell(cause: Exception, told: str) -> None:
    guard = Guard()
    guard.halt(cause)
    reason = guard.reason("a cell")
    assert isinstance(reason, CellFailed)
    assert str(reason).startswith(f"a cell: the optimisation cannot go on {told}; ")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_no_retry_mends_is_asked_once(tmp_path: Path, asynchronous: bool) -> None:
    with Loopback(faults={"auth": 1.0}) as server, runtime(tmp_path, server, retries=1) as made:
        guard = Guard()
        lm = _guarded(made, server, guard)
        with pytest.raises(Halted):
            assert made.run(lm.acall("hello")) if asynchronous else lm("hello")
        assert server.books.requests == 1
        assert guard.cause is not None


class _Fails(dspy.Module):
    """Ends each call as it was told."""

    def __init__(self, end: Any) -> None:
        super().__init__()
        self.end = end

    def forward(self, question: str) -> Any:
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end


def _watched(end: Any) -> tuple[dspy.Module, Guard, list[Any], list[Any]]:
    guard, called, failed = Guard(), list[Any](), list[Any]()
    return guarded(_Fails(end), guard, called.append, failed.append), guard, called, failed


def test_a_watched_program_answers_as_before_under_its_own_name() -> None:
    answer = dspy.Prediction(answer="so")
    program, guard, called, failed = _watched(answer)
    assert program(question="why?") is answer
    assert (called, failed, guard.cause, guard.unreadable) == ([program], [], None, 0)
    kind = type(program)
    assert (kind.__name__, kind.__module__, kind.__doc__) == ("_Fails", __name__, _Fails.__doc__)


@pytest.mark.parametrize("error", [_unreadable(), ProviderError("context_length", "too long")])
def test_a_candidates_fault_is_told_with_the_inputs_and_the_next_call_may_go(error: Exception) -> None:
    program, guard, called, failed = _watched(error)
    for _ in range(2):
        with pytest.raises(type(error)):
            program(question="why?")
    assert failed == [{"question": "why?"}] * 2
    assert (len(called), guard.cause) == (2, None)


@pytest.mark.parametrize("end", [ProviderError("auth", "no key"), SystemExit(3)])
def test_after_any_other_fault_no_program_is_called(end: BaseException) -> None:
    program, guard, called, failed = _watched(end)
    for _ in range(2):
        with pytest.raises(Halted):
            program(question="why?")
    assert (len(called), failed) == (1, [])
    assert guard.cause is not None


@pytest.mark.parametrize(
    ("answer", "unreadable"),
    [
        ((FailedPrediction("hm", 0.0), []), 1),
        ((), 0),
        ((dspy.Prediction(answer="so"), FailedPrediction("hm", 0.0)), 0),
    ],
)
def test_an_answer_that_a_trace_could_not_read_counts_as_unreadable(answer: Any, unreadable: int) -> None:
    program, guard, _, failed = _watched(answer)
    assert program(question="why?") == answer
    assert guard.unreadable == unreadable
    assert failed == [{"question": "why?"}] * unreadable


class _Asks(dspy.Module):
    """Fails to read an answer to whichever signature it was told."""

    def __init__(self, asked: Any) -> None:
        super().__init__()
        self.first = dspy.Predict(make_signature("question -> answer", "Answer."))
        self.second = dspy.Predict(make_signature("question, answer -> check, verdict", "Check."))
        self.asked = asked

    def forward(self, question: str) -> Any:
        raise _unreadable(self.asked)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (make_signature("question, answer -> check, verdict", "Check."), "second"),
        (make_signature("question, answer -> verdict", "Check."), "second"),
        (make_signature("question -> verdict", "Something else."), "first"),
    ],
)
def test_an_unreadable_answer_is_that_of_the_predictor_nearest_to_what_was_asked(asked: Any, named: str) -> None:
    program: Any = guarded(_Asks(asked), Guard(), lambda program: None, lambda inputs: None)
    with pytest.raises(dspy.AdapterParseError) as raised:
        program(question="why?")
    assert raised.value.signature == getattr(program, named).signature
    assert raised.value.parsed_result is None
    assert raised.value.lm_response == "so I think"


def test_without_predictors_an_unreadable_answer_keeps_what_was_asked() -> None:
    error = _unreadable()
    program, *_ = _watched(error)
    with pytest.raises(dspy.AdapterParseError) as raised:
        program(question="why?")
    assert raised.value.signature == error.signature
