"""The dspy.LM that systems, scorers and optimizers are given. Its engine makes one attempt, DSPy makes the retries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import dspy

from seedbed.lm import codec
from seedbed.lm.abilities import abilities_of, takes_images
from seedbed.lm.chat import Call, Chat
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.fast_path import call_fast, fast_path_body

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from seedbed.lm.runtime import Binding, LMRuntime

T = TypeVar("T")

# Answers that were cut off are counted, and told once with the remedy (phases/answer_notes.py); DSPy says it of each.
logging.getLogger("dspy.clients.lm").addFilter(lambda record: "response was truncated" not in record.getMessage())

CALL: ContextVar[Call | None] = ContextVar("seedbed_call", default=None)


class _Engine:
    """What both engines declare; DSPy believes that a model cannot do what its engine does not name."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        self._runtime = runtime
        self._binding = binding
        can = abilities_of(binding.model)
        self.supports_function_calling = can.function_calling
        self.supports_reasoning = can.reasoning
        self.supports_response_schema = can.response_schema
        self.supported_params = can.params

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class SyncEngine(_Engine):
    """For optimizers, which call from threads: hands the attempt to the runtime's loop and waits."""

    def complete(self, request: Request) -> Response:
        call = _current_call()
        attempt = _attempt(self._runtime, self._binding, request, call)
        response = self._runtime.run_until_stop(attempt, self._binding.scope.cell)
        _candidate_done(call)
        return response


class AsyncEngine(_Engine):
    """For phases, whose samples run on the runtime's own loop; from another loop the attempt is handed over."""

    async def complete(self, request: Request) -> Response:
        call = _current_call()
        attempt = _attempt(self._runtime, self._binding, request, call)
        if asyncio.get_running_loop() is self._runtime.loop:
            response = await attempt()
        else:
            elsewhere = self._runtime.until_stop(attempt, self._binding.scope.cell)
            response = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(elsewhere, self._runtime.loop))
        _candidate_done(call)
        return response


class SeedbedLM(dspy.LM):
    """A dspy.LM bound to a cell, a phase and a role. Copies made by optimizers keep the binding."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        model = binding.model
        reasoning = codec.is_reasoning_model(model.model)
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
            body = fast_path_body(self, prompt, messages, kwargs)
            if body is not None:
                chat, model = Chat(self._runtime, self._binding), self._binding.model
                return await call_fast(chat, model, body, call, CURRENT_SAMPLE.get(), self.num_retries)
        token = CALL.set(call)
        try:
            return await super().acall(prompt, messages=messages, **kwargs)
        finally:
            CALL.reset(token)

    def wait_for(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do asynchronous work where calls are made, from any other thread: none of its calls needs a loop or a thread
        of its own then."""
        return self._runtime.run_until_stop(work, self._binding.scope.cell)

    @property
    def adapter(self) -> str:
        """In which form the model is to be asked (`seedbed.lm.adapter`)."""
        return self._binding.model.adapter

    @property
    def takes_images(self) -> bool | None:
        """None where nobody knows."""
        return takes_images(self._binding.model)

    def __deepcopy__(self, memo: dict[int, Any]) -> SeedbedLM:
        return self.copy()


def _attempt(runtime: LMRuntime, binding: Binding, request: Request, call: Call) -> Callable[[], Awaitable[Response]]:
    body = codec.encode(request, binding.model)
    return partial(Chat(runtime, binding).attempt, body, codec.decode, call, CURRENT_SAMPLE.get())


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
