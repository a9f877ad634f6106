"""The LM runtime: one a process and ledger. It owns a thread with an event loop, the providers, the limiters and the
ledger; every attempt of every cell passes through it. Nothing else in Seedbed holds state."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from seedbed.config import ModelConfig
from seedbed.errors import BudgetReached, Interrupted, ProviderError, ReplayMiss, SeedbedError
from seedbed.lm import codec
from seedbed.lm.ledger import Begin, Busy, CallScope, Cap, End, Granted, Ledger, OverBudget, Stored, Unknown
from seedbed.lm.limits import Limiter
from seedbed.lm.prices import TokenPrice, price_of, worst_case
from seedbed.lm.providers import make_provider
from seedbed.lm.tokens import rough_size, usage_of
from seedbed.lm.types import Attempt, JsonDict, Provider, Usage
from seedbed.redact import redact

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from seedbed.lm.lm import Call, SeedbedLM

T = TypeVar("T")

logger = logging.getLogger("seedbed.lm")

_BUSY_POLL_S = 0.2
_THREADS = 64
GRACE_S = 3.0
"""After a stop, calls in flight get this long to end before they are given up as lost."""


@dataclass(frozen=True, slots=True)
class Binding:
    """For whom and with which model an LM calls."""

    scope: CallScope
    model: ModelConfig
    caps: tuple[Cap, ...] = ()


@dataclass(slots=True)
class _Link:
    """What is shared by all calls of one model."""

    provider: Provider
    limiter: Limiter
    price: TokenPrice | None


class LMRuntime:
    def __init__(
        self, ledger_url: str, models: Mapping[str, ModelConfig], *, store_bodies: bool = True, replay: bool = False
    ) -> None:
        self._models = dict(models)
        self._prices = {name: price_of(model) for name, model in models.items()}
        self._replay = replay
        self._links: dict[str, _Link] = {}
        self._flights: dict[str, asyncio.Future[None]] = {}
        self._handed_over: set[asyncio.Task[Any]] = set()
        self._stop_reason: SeedbedError | None = None
        self.stopped = threading.Event()
        self.ledger = Ledger(ledger_url, list_price=self._list_price, store_bodies=store_bodies)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="seedbed-lm", daemon=True)
        self._thread.start()
        for name, price in self._prices.items():
            if price is None:
                logger.warning("the price of model %r is unknown: its costs stay empty; give `price:` in the config", name)

    # -- for phases ------------------------------------------------------------------------------------------------

    def lm(self, scope: CallScope, caps: tuple[Cap, ...] = ()) -> SeedbedLM:
        """An LM whose calls are recorded under `scope`."""
        from seedbed.lm.lm import SeedbedLM

        return SeedbedLM(self, Binding(scope, self._models[scope.model], caps))

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the runtime's loop and wait for it, from any other thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def stop(self, reason: SeedbedError) -> None:
        """Start no new call. Calls in flight may still end; the first reason is the one reported."""
        if self._stop_reason is None:
            self._stop_reason = reason
            self.stopped.set()
            self.loop.call_soon_threadsafe(self._cancel_late)

    def check_stop(self) -> None:
        """Raise the reason if the runtime was stopped."""
        if self._stop_reason is not None:
            raise self._stop_reason

    def close(self) -> None:
        async def finish() -> None:
            for link in self._links.values():
                await link.provider.aclose()

        self.run(finish())
        self.ledger.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)

    # -- for engines -----------------------------------------------------------------------------------------------

    def call_from_thread(
        self, binding: Binding, request: Request, call: Call, sample: tuple[str | None, int]
    ) -> Response:
        """One attempt, for callers outside the loop."""

        async def hand_over() -> Response:
            task = asyncio.ensure_future(self.attempt(binding, request, call, sample))
            self._handed_over.add(task)
            task.add_done_callback(self._handed_over.discard)
            return await task

        try:
            return self.run(hand_over())
        except concurrent.futures.CancelledError:
            raise self._stop_reason or Interrupted("the call was cancelled") from None

    async def attempt(
        self, binding: Binding, request: Request, call: Call, sample: tuple[str | None, int]
    ) -> Response:
        """Answer a request once: from the ledger if it is there, else by a call. Failures are DSPy's lm15 errors."""
        self.check_stop()
        model = binding.model
        body = codec.encode(request, model)
        random_sampling = body.get("temperature", model.temperature) > 0
        seed = binding.scope.seed if random_sampling else None
        repeat = (call.rollout if random_sampling else None, call.candidate, sample[1])
        key = codec.request_key(body, model, seed, repeat)
        while (flight := self._flights.get(key)) is not None:
            # The same request is on its way: its answer will be ours too.
            await asyncio.wait([flight])
        mine = self._flights[key] = self.loop.create_future()
        try:
            link = self._link(binding.scope.model, model)
            async with link.limiter.slot():
                tried = Attempt(key, seed, call.candidate + sample[1], call.number, model.timeout_s)
                response = await self._answer(binding, link, body, tried, sample[0])
            return codec.decode(response, model.model)
        except ProviderError as error:
            raise codec.to_dspy_error(error, model, call.number) from error
        finally:
            del self._flights[key]
            mine.set_result(None)

    async def _answer(
        self, binding: Binding, link: _Link, body: JsonDict, tried: Attempt, sample: str | None
    ) -> JsonDict:
        size = rough_size(body)
        asked = body.get("max_tokens") or body.get("max_completion_tokens")
        begin = Begin(
            scope=binding.scope,
            key=tried.key,
            number=tried.number,
            sample=sample,
            request=orjson.dumps(body),
            reserved_usd=worst_case(binding.model, link.price, size, asked),
            caps=binding.caps,
            may_call=not self._replay,
        )
        while True:
            self.check_stop()
            match await self.ledger.begin(begin):
                case Stored(stored, _):
                    return orjson.loads(stored)
                case Granted(attempt_id):
                    return await self._call(link, begin, attempt_id, body, tried, size)
                case Busy():
                    await asyncio.sleep(_BUSY_POLL_S)
                case OverBudget(cap, used):
                    self.stop(BudgetReached(_over_budget(cap, used)))
                case Unknown():
                    self.stop(ReplayMiss(f"a replay met a request that is not in the ledger (key {tried.key[:12]})"))

    async def _call(
        self, link: _Link, begin: Begin, attempt_id: int, body: JsonDict, tried: Attempt, size: int
    ) -> JsonDict:
        started = time.perf_counter()
        unfinished = End(
            attempt_id, begin, "failed", None, 0.0, 0.0, 0.0, 0.0, response=None, error_class="NotSent"
        )  # fmt: skip
        try:
            await link.limiter.wait_to_send(size)
            self.check_stop()
            started = time.perf_counter()
            unfinished = replace(
                unfinished, outcome="lost", at_risk_usd=begin.reserved_usd or 0.0, error_class="Cancelled"
            )
            response = await link.provider.chat(body, tried)
        except ProviderError as error:
            if error.kind == "rate_limit":
                link.limiter.rate_limited(error.retry_after)
            await self.ledger.end(self._failure(begin, attempt_id, error, time.perf_counter() - started))
            self._stop_if_hopeless(begin.scope, error)
            raise
        except BaseException:
            # Cancelled, or a bug in a provider: the record must not say "in flight" for ever.
            self.ledger.post(replace(unfinished, latency_s=time.perf_counter() - started))
            raise
        link.limiter.succeeded()
        usage = usage_of(body, response)
        link.limiter.settle(size, usage.input + usage.output)
        cost = link.price.cost(usage) if link.price else None
        kept = None if codec.is_empty(response) else orjson.dumps(response)
        await self.ledger.end(
            End(attempt_id, begin, "paid", usage, cost, cost, 0.0, time.perf_counter() - started, response=kept)
        )
        return response

    # -- inside ----------------------------------------------------------------------------------------------------

    def _link(self, name: str, model: ModelConfig) -> _Link:
        if name not in self._links:
            self._links[name] = _Link(make_provider(model), Limiter(model.limits), self._prices[name])
        return self._links[name]

    def _list_price(self, name: str, usage: Usage) -> float | None:
        price = self._prices.get(name)
        return price.cost(usage) if price else None

    def _failure(self, begin: Begin, attempt_id: int, error: ProviderError, latency: float) -> End:
        return End(
            attempt_id,
            begin,
            "failed",
            None,
            spent_usd=0.0,
            list_usd=0.0,
            at_risk_usd=(begin.reserved_usd or 0.0) if error.maybe_billed else 0.0,
            latency_s=latency,
            response=None,
            error_class=error.kind,
            error=redact(error.message),
        )

    def _stop_if_hopeless(self, scope: CallScope, error: ProviderError) -> None:
        model = self._models[scope.model]
        if error.kind == "auth":
            where = f"the key in {model.api_key_env}" if model.api_key_env else "the call (no api_key_env is given)"
            self.stop(SeedbedError(f"{model.model} refused {where}: {redact(error.message)}. Set a valid key and run again."))
        elif error.kind == "billing":
            self.stop(SeedbedError(f"{model.model} wants payment: {redact(error.message)}. Top up the account and run again."))

    def _cancel_late(self) -> None:
        def cancel() -> None:
            for task in list(self._handed_over):
                task.cancel()

        self.loop.call_later(GRACE_S, cancel)

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self.loop)
        # Systems without an async form, and DSPy's own small hops, run here; the default pool has six threads.
        self.loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="seedbed"))
        self.loop.run_forever()


def _over_budget(cap: Cap, used: float) -> str:
    whose = "the sweep" if cap.scope.startswith("sweep:") else "a cell"
    return f"the next call could take {whose} past ${cap.max_usd:g} (${used:.4f} used)"


_runtimes: dict[Any, LMRuntime] = {}
_lock = threading.Lock()


def shared_runtime(key: Any, make: Callable[[], LMRuntime]) -> LMRuntime:
    """The runtime of this process for `key`, made at the first request."""
    with _lock:
        if key not in _runtimes:
            _runtimes[key] = make()
        return _runtimes[key]


def close_runtimes() -> None:
    """End all runtimes of this process, writing what is still queued."""
    with _lock:
        for runtime in _runtimes.values():
            runtime.close()
        _runtimes.clear()


def stop_runtimes(reason: SeedbedError) -> None:
    """Stop all runtimes of this process; safe to call from a signal handler."""
    for runtime in list(_runtimes.values()):
        runtime.stop(reason)
