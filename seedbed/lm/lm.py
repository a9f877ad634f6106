"""The dspy.LM that systems, scorers and optimizers are given. Its engine makes one attempt, DSPy makes the retries."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dspy

from seedbed.lm.codec import is_reasoning_model
from seedbed.lm.plain import PlainCall, plain_body
from seedbed.lm.sample import SAMPLE

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from seedbed.lm.runtime import Binding, LMRuntime


@dataclass(slots=True)
class Call:
    """One call of an LM: what DSPy knows of it but does not tell the engine."""

    rollout: Any = None
    """DSPy's way of asking for another sample of the same request."""
    candidate: int = 0
    """With n > 1 the same request is sent n times; each is an answer of its own."""
    number: int = 0
    """Attempts made for the current candidate."""
    pause_s: float = 0.0
    """How long the next attempt is to wait, set by the failure of the last."""


CALL: ContextVar[Call | None] = ContextVar("seedbed_call", default=None)


class SyncEngine:
    """For optimizers, which call from threads: hands the attempt to the runtime's loop and waits."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        self._runtime = runtime
        self._binding = binding

    def complete(self, request: Request) -> Response:
        call = _current_call()
        response = self._runtime.call_from_thread(self._binding, request, call, SAMPLE.get())
        _candidate_done(call)
        return response

    def __deepcopy__(self, memo: dict[int, Any]) -> SyncEngine:
        return self


class AsyncEngine:
    """For phases, whose samples run on the runtime's own loop; from another loop the attempt is handed over."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        self._runtime = runtime
        self._binding = binding

    async def complete(self, request: Request) -> Response:
        call = _current_call()
        if asyncio.get_running_loop() is self._runtime.loop:
            response = await self._runtime.attempt(self._binding, request, call, SAMPLE.get())
        else:
            attempt = self._runtime.attempt_until_stop(self._binding, request, call, SAMPLE.get())
            response = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(attempt, self._runtime.loop))
        _candidate_done(call)
        return response

    def __deepcopy__(self, memo: dict[int, Any]) -> AsyncEngine:
        return self


class SeedbedLM(dspy.LM):
    """A dspy.LM bound to a cell, a phase and a role. Copies made by optimizers keep the binding."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        model = binding.model
        reasoning = is_reasoning_model(model.model)
        self._runtime = runtime
        self._binding = binding
        super().__init__(
            model.model,
            # 0 is our default, not a wish: these models know only their own temperature.
            temperature=None if reasoning and model.temperature == 0 else model.temperature,
            max_tokens=None if reasoning else model.max_tokens,
            top_p=model.top_p,
            cache=False,
            num_retries=model.retries,
            engine=SyncEngine(runtime, binding),
            async_engine=AsyncEngine(runtime, binding),
        )
        if reasoning and model.max_tokens:
            self.kwargs["max_completion_tokens"] = model.max_tokens

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        token = CALL.set(Call(rollout=kwargs.get("rollout_id", self.kwargs.get("rollout_id"))))
        try:
            return super().__call__(prompt, messages=messages, **kwargs)
        finally:
            CALL.reset(token)

    async def acall(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        call = Call(rollout=kwargs.get("rollout_id", self.kwargs.get("rollout_id")))
        if asyncio.get_running_loop() is self._runtime.loop:
            body = plain_body(self, prompt, messages, kwargs)
            if body is not None:
                plain = PlainCall(self._runtime, self._binding, body, self.num_retries)
                return await plain.run(call, SAMPLE.get())
        token = CALL.set(call)
        try:
            return await super().acall(prompt, messages=messages, **kwargs)
        finally:
            CALL.reset(token)

    def __deepcopy__(self, memo: dict[int, Any]) -> SeedbedLM:
        return self.copy()


def _current_call() -> Call:
    call = CALL.get()
    if call is None:
        call = Call()
    call.number += 1
    return call


def _candidate_done(call: Call) -> None:
    call.candidate += 1
    call.number = 0
    call.pause_s = 0.0
