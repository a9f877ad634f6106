"""Keeps a provider's failure from becoming a score. DSPy's optimizers take any exception for a wrong answer; here it
ends the phase instead, and what was paid for is found in the ledger when the phase is run again."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from seedbed.errors import CellFailed, ProviderError, SeedbedError, causes
from seedbed.lm.lm import SeedbedLM
from seedbed.phases.context import CellContext
from seedbed.phases.predict import describe

if TYPE_CHECKING:
    from seedbed.lm.runtime import Binding, LMRuntime

_OF_THE_PROMPT = ("context_length",)
"""Failures that a candidate's own prompt brought about. They count against it, as an unreadable answer does."""


_ROUNDS = (False, True)
"""DSPy's retries are gone through so many times (the last is True): giving up here gives up hours of search."""


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
            with self._lock:
                self.unreadable += 1
            return error
        if describe(error)["kind"] in _OF_THE_PROMPT:
            with self._lock:
                self.too_long += 1
            return error
        return self.halt(error)

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


def guarded(program: dspy.Module, guard: Guard, called: Any) -> dspy.Module:
    """The program with its calls watched: `called(program)` before each, and a failure that is not the candidate's ends
    the optimisation. Its class keeps name and source, which some optimizers read."""
    kind: Any = type(program)

    def call(self: dspy.Module, *args: Any, **kwargs: Any) -> Any:
        guard.check()
        called(self)
        try:
            return kind.__call__(self, *args, **kwargs)
        except Exception as error:
            raise guard.judge_failure(error) from error

    names = {
        "__call__": call,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
    }
    program.__class__ = type(kind)(kind.__name__, (kind,), names)
    return program
