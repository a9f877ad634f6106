"""Keeps a provider's failure from becoming a score. DSPy's optimizers take any exception for a wrong answer; here it
ends the phase instead, and what was paid for is found in the ledger when the phase is run again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dspy
from dspy.teleprompt.bootstrap_trace import FailedPrediction
from dspy.utils.exceptions import AdapterParseError

from seedbed.errors import CellFailed, ProviderError, SeedbedError, causes, staying
from seedbed.lm.lm import SeedbedLM
from seedbed.phases.context import CellContext
from seedbed.phases.predict import describe

if TYPE_CHECKING:
    from seedbed.lm.runtime import Binding, LMRuntime

_OF_THE_PROMPT = ("context_length",)
"""Failures that a candidate's own prompt brought about. They count against it, as an unreadable answer does."""
_COUNTED = "seedbed_counted"

_ROUNDS = (False, True)
"""DSPy's retries are gone through so many times (the last is True): giving up here gives up hours of search."""


Called = Callable[[dspy.Module], None]
Failed = Callable[[Mapping[str, Any]], None]


class Halted(BaseException):
    """Ends an optimisation from inside. Not an Exception, because optimizers swallow those."""


@dataclass
class Guard:
    """Watches one optimisation. After the first failure every further call is refused: DSPy's threads would otherwise
    work, and pay, through the examples they have queued."""

    cause: BaseException | None = None
    unreadable: int = 0
    """Answers in no format that could be parsed; they score 0."""
    too_long: int = 0
    """Prompts longer than the model takes; they score 0."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def halt(self, cause: BaseException) -> Halted:
        with self._lock:
            self.cause = self.cause or cause
        return Halted(str(cause))

    def check(self) -> None:
        if self.cause is not None:
            raise Halted(str(self.cause))

    def judge_failure(self, error: Exception) -> Exception | Halted:
        """What to raise for a failure: itself where the candidate is to blame, else the end of the phase."""
        if isinstance(error, AdapterParseError):
            self.count_unreadable()
            return error
        if describe(error)["kind"] in _OF_THE_PROMPT:
            # An LM's failure comes by here once more as its program's.
            if not any(getattr(cause, _COUNTED, False) for cause in causes(error)):
                setattr(error, _COUNTED, True)
                with self._lock:
                    self.too_long += 1
            return error
        return self.halt(error)

    def count_unreadable(self) -> None:
        with self._lock:
            self.unreadable += 1

    def reason(self, title: str) -> SeedbedError:
        """The failure as the phase reports it: a stop of the sweep as it is, anything else as the cell's failure."""
        assert self.cause is not None
        for cause in causes(self.cause):
            if isinstance(cause, SeedbedError) and not isinstance(cause, ProviderError):
                return cause
        told = describe(self.cause)
        return CellFailed(
            f"{title}: the optimisation cannot go on ({told['kind']}: {told['message']}); an optimizer cannot leave an "
            "example out and a failure is no score. Run again: everything paid for is reused."
        )


def _may_pass(error: Exception) -> bool:
    return any(isinstance(cause, ProviderError) and cause.retryable for cause in causes(error))


class GuardedLM(SeedbedLM):
    """An LM whose failures, once DSPy's retries are used up, end the optimisation. Copies share the guard."""

    def __init__(self, runtime: LMRuntime, binding: Binding, guard: Guard) -> None:
        super().__init__(runtime, binding)
        self.guard = guard

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        for last in _ROUNDS:
            self.guard.check()
            try:
                return super().__call__(prompt, messages=messages, **kwargs)
            except Exception as error:
                if last or not _may_pass(error):
                    raise self.guard.judge_failure(error) from error
        raise AssertionError("the last round returns or raises")

    def inspect_history(self, n: int = 1, file: Any = None) -> None:
        """Prints nothing: COPRO asks for it at every step, and the ledger has it all."""

    async def acall(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        for last in _ROUNDS:
            self.guard.check()
            try:
                return await super().acall(prompt, messages=messages, **kwargs)
            except Exception as error:
                if last or not _may_pass(error):
                    raise self.guard.judge_failure(error) from error
        raise AssertionError("the last round returns or raises")


@dataclass(frozen=True)
class GuardedContext(CellContext):
    """A cell's context whose LMs are guarded."""

    guard: Guard = field(default_factory=Guard)

    def lm(self, role: str = "task") -> GuardedLM:
        return GuardedLM(self.runtime, self.binding(role), self.guard)


def guarded(program: dspy.Module, guard: Guard, called: Called, failed: Failed) -> dspy.Module:
    """The program with its calls watched: `called(program)` before each, `failed(inputs)` after one that is the
    candidate's own fault; any other failure ends the optimisation. Its class keeps name and source, which some
    optimizers read."""
    kind: Any = type(program)

    def call(self: dspy.Module, *args: Any, **kwargs: Any) -> Any:
        guard.check()
        called(self)
        try:
            with staying():
                answer = kind.__call__(self, *args, **kwargs)
        except Exception as error:
            judged = guard.judge_failure(error)
            if not isinstance(judged, Halted):
                failed(kwargs)
            raise judged from error
        if isinstance(answer, tuple) and answer and isinstance(answer[0], FailedPrediction):
            # GEPA takes an unreadable answer for one while it traces, and asks no metric about it.
            guard.count_unreadable()
            failed(kwargs)
        return answer

    def forward(self: dspy.Module, *args: Any, **kwargs: Any) -> Any:
        try:
            return kind.forward(self, *args, **kwargs)
        except AdapterParseError as error:
            raise _traceable(self, error) from error

    names = {
        "__call__": call,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        **({"forward": forward} if hasattr(kind, "forward") else {}),
    }
    program.__class__ = type(kind)(kind.__name__, (kind,), names)
    return program


def _traceable(program: dspy.Module, error: AdapterParseError) -> AdapterParseError:
    """The error in the shape that DSPy's tracing can take: it divides lists where part of the fields was read, and
    gives up where an adapter asked with less than the predictor's own signature."""
    own: list[Any] = [predictor.signature for predictor in program.predictors()]
    asked: Any = error.signature
    near = [s for s in own if s == asked] or [s for s in own if s.instructions == asked.instructions] or own
    return AdapterParseError(error.adapter_name, near[0] if near else asked, str(error.lm_response), str(error))
