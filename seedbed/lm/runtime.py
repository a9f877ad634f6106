"""The LM runtime: one a process and ledger. It owns a thread with an event loop, the providers, the limiters and the
ledger; every attempt of every cell passes through it. Nothing else in Seedbed holds state."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from seedbed.errors import Interrupted, SeedbedError
from seedbed.lm.attempts import Attempts, Binding, ModelState, Query
from seedbed.lm.batches.service import Batches
from seedbed.lm.executor import LoopExecutor
from seedbed.lm.ledger import CallScope, Cap, Ledger
from seedbed.lm.limits import Limiter
from seedbed.lm.prices import WorstCase, price_of
from seedbed.lm.stop import GRACE_S, StopSignal
from seedbed.lm.types import Closable, Usage
from seedbed.sweep.model_config import ModelConfig

if TYPE_CHECKING:
    from seedbed.lm.embeddings import Embedder
    from seedbed.lm.lm import SeedbedLM

__all__ = ["GRACE_S", "Binding", "LMRuntime", "close_runtimes", "shared_runtime", "stop_asked", "stop_runtimes"]

T = TypeVar("T")
ClosableT = TypeVar("ClosableT", bound=Closable)

logger = logging.getLogger("seedbed.lm")

_THREADS = 64
_CLOSE_S = 10.0
_ROOM_S = 0.02


class LMRuntime:
    def __init__(
        self, ledger_url: str, models: Mapping[str, ModelConfig], *, store_bodies: bool = True, replay: bool = False
    ) -> None:
        self._models = dict(models)
        self._prices = {name: price_of(model) for name, model in models.items()}
        self._providers: dict[str, Closable] = {}
        self._making = threading.Lock()
        self._states: dict[str, ModelState] = {}
        self._limiters: dict[str, Limiter] = {}
        self._stops = StopSignal()
        self._closed = False
        self._processes, self._members = 1, 1
        self.loop = asyncio.new_event_loop()
        # Systems without an async form, and optimizers' helpers, run here; asyncio's own executor has six threads.
        self._threads = LoopExecutor(_THREADS, thread_name_prefix="seedbed")
        self.ledger = self._open_ledger(ledger_url, store_bodies=store_bodies)
        self._attempts = Attempts(self.ledger, self._stops, self.stop, replay=replay)
        self._thread = threading.Thread(target=self._run_loop, name="seedbed-lm", daemon=True)
        self._thread.start()
        for name, price in self._prices.items():
            if price is None:
                logger.warning(
                    "the price of model %r is unknown: its costs stay empty; give `price:` in the config", name
                )

    # -- for phases ------------------------------------------------------------------------------------------------

    @property
    def stopped(self) -> threading.Event:
        """Set when no new call is started any more, for any cell."""
        return self._stops.event

    @property
    def stop_reason(self) -> SeedbedError | None:
        """Why, once it is stopped."""
        return self._stops.reason()

    def lm(self, scope: CallScope, caps: tuple[Cap, ...] = ()) -> SeedbedLM:
        """An LM whose calls are recorded under `scope`."""
        from seedbed.lm.lm import SeedbedLM

        return SeedbedLM(self, Binding(scope, self._models[scope.model], caps))

    def embedder(self, scope: CallScope, caps: tuple[Cap, ...] = ()) -> Embedder:
        """Embeddings by an OpenAI-compatible endpoint, recorded under `scope` like any call."""
        from seedbed.lm.embeddings import Embedder

        return Embedder(self, Binding(scope, self._models[scope.model], caps))

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the runtime's loop and wait for it, from any other thread."""
        if threading.get_ident() == self._thread.ident:
            coroutine.close()
            raise SeedbedError(
                "a model was called synchronously inside an async system, which would wait for itself; "
                "write `await program.acall(...)` there, or make the system a plain function"
            )
        if self._closed:
            coroutine.close()
            raise self._stops.reason() or Interrupted("the LM runtime is closed")
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def stop(self, reason: SeedbedError) -> None:
        """Start no new call. Calls in flight may still end; the first reason is the one reported."""
        self._stops.stop(reason)

    def stop_cell(self, cell: str, reason: SeedbedError) -> None:
        """The same for one cell; the others go on."""
        self._stops.stop_cell(cell, reason)

    def check_stop(self, cell: str | None = None) -> None:
        """Raise the reason if the runtime, or this cell of it, was stopped."""
        self._stops.check(cell)

    def is_stopped(self, cell: str | None = None) -> bool:
        return self._stops.reason(cell) is not None

    def grace_s(self, cell: str | None = None) -> float | None:
        """After a stop: how long running calls may still take; None where all of them are to finish."""
        return self._stops.grace_s(cell)

    @property
    def batches(self) -> Batches:
        """Calls that wait for batches."""
        return self._attempts.batches

    async def divide(self, processes: int, members: int) -> None:
        """Make calls as one of `processes` that share what a process may send, and wait until no more are in flight
        than that. `members` are those of the ledger's peers that are this process or help it: while it works alone it
        has their parts too."""
        self._processes, self._members = processes, members
        self._share()
        while any(limiter.over for limiter in self._limiters.values()):  # noqa: ASYNC110
            await asyncio.sleep(_ROOM_S)

    def help(self, processes: int, *, known: bool) -> None:
        """This process is one of several that work for a sweep, for good. `known`: everybody at work on the ledger has
        made room for it."""
        self._processes = self._members = processes
        if known:
            self.ledger.known_from = 0.0

    async def turn(self) -> None:
        """Wait for a turn on the loop: for who starts work that is one of many."""
        await self._attempts.pace.turn()

    def close(self) -> None:
        """Give up what still runs, write what is queued, and end the thread. Nobody is left waiting."""
        if self._closed:
            return
        self.stop(Interrupted("the LM runtime is closed"))
        try:
            self.run(self._wind_up())
        finally:
            self._closed = True
            self.ledger.close()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(timeout=_CLOSE_S)
            self._threads.shutdown(wait=False, cancel_futures=True)
            if not self._thread.is_alive():
                self.loop.close()

    # -- for LMs and embedders -------------------------------------------------------------------------------------

    async def attempt(self, query: Query[T]) -> T:
        """Answer a request once: from the ledger if it is there, else by a call. Failures are ProviderErrors."""
        return await self._attempts.answer(query, self._state_for(query))

    def run_until_stop(self, work: Callable[[], Awaitable[T]], cell: str) -> T:
        """`until_stop`, for callers outside the loop."""
        try:
            return self.run(self.until_stop(work, cell))
        except concurrent.futures.CancelledError:
            raise self._stops.reason() or Interrupted("the call was cancelled") from None

    async def until_stop(self, work: Callable[[], Awaitable[T]], cell: str) -> T:
        """Work that is given up some seconds after a stop: its caller is not on this loop and cannot do so."""
        task = asyncio.ensure_future(work())
        try:
            while not task.done():
                await asyncio.wait([task], timeout=0.5)
                if self.is_stopped(cell) and (grace := self.grace_s(cell)) is not None:
                    await asyncio.wait([task], timeout=grace)
                    break
        finally:
            task.cancel()
        return await task

    def keep(self, name: str, make: Callable[[], ClosableT]) -> ClosableT:
        """The one provider of this name; it is closed with the runtime."""
        with self._making:
            if name not in self._providers:
                self._providers[name] = make()
            return cast("ClosableT", self._providers[name])

    def keeps(self, name: str) -> bool:
        """Whether there is such a provider already."""
        return name in self._providers

    # -- inside ----------------------------------------------------------------------------------------------------

    def _open_ledger(self, url: str, *, store_bodies: bool) -> Ledger:
        return Ledger(url, list_price=self._list_price, store_bodies=store_bodies, on_peers=self._on_peers)

    def _state_for(self, query: Query[Any]) -> ModelState:
        """How a request is answered: by a call, or by a batch. One that failed in a batch falls back where the config
        says so."""
        scope, model = query.binding.scope, query.binding.model
        listed = model.is_batched(scope.phase) and query.kind.batches
        again = query.attempt.number > 1 and model.batch.fallback == "online"
        return self._model_state(scope.model, batched=listed and not again, listed=listed)

    def _model_state(self, name: str, *, batched: bool = False, listed: bool = False) -> ModelState:
        key = f"{name} {batched} {listed}"
        if key not in self._states:
            model, price = self._models[name], self._prices[name]
            if name not in self._limiters:
                self._limiters[name] = Limiter(model.limits, known_from=self.ledger.known_from)
                self._limiters[name].share(*self._parts())
            limiter = self._limiters[name]
            worst = WorstCase.of(model, price, batch=batched) if price else None
            lane = self._attempts.batches.lane(model) if model.batch_protocol else None
            self._states[key] = ModelState(limiter, price, worst, model.provider, lane, batched, listed)
        return self._states[key]

    def _list_price(self, scope: CallScope, usage: Usage) -> float | None:
        price = self._prices.get(scope.model)
        return price.cost(usage, batch=self._models[scope.model].is_batched(scope.phase)) if price else None

    def _on_peers(self, _peers: int) -> None:
        if not self._closed:
            self.loop.call_soon_threadsafe(self._share)

    def _share(self) -> None:
        for limiter in self._limiters.values():
            limiter.share(*self._parts())

    def _parts(self) -> tuple[float, int]:
        """Into how many parts limits are cut: those of the whole ledger, and those of this process with its helpers.
        Helpers are peers too, but those that just start are not counted yet."""
        peers = self.ledger.peers
        shared = max(peers, self._processes) if self._processes > 1 else max(1.0, peers / self._members)
        return shared, self._processes

    async def _wind_up(self) -> None:
        current = asyncio.current_task()
        running = [task for task in asyncio.all_tasks() if task is not current]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=_CLOSE_S)
        for provider in (self._attempts.batches, *self._providers.values()):
            try:
                async with asyncio.timeout(_CLOSE_S):
                    await provider.aclose()
            except Exception as error:
                logger.warning("a provider could not be closed: %s", error)

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.set_default_executor(self._threads)
        while True:
            try:
                self.loop.run_forever()
                return
            except (SystemExit, KeyboardInterrupt):
                # Of code that ran on the loop, and its task has it: who waits for that is told, and others go on.
                continue


_runtimes: dict[Any, LMRuntime] = {}
_stop_asked: list[SeedbedError] = []
_lock = threading.Lock()


def shared_runtime(key: Any, make: Callable[[], LMRuntime]) -> LMRuntime:
    """The runtime of this process for `key`, made at the first request."""
    with _lock:
        if key not in _runtimes:
            _runtimes[key] = make()
            for reason in _stop_asked:
                # Ctrl-C came before the first call was due.
                _runtimes[key].stop(reason)
        return _runtimes[key]


def close_runtimes() -> None:
    """End all runtimes of this process, writing what is still queued."""
    with _lock:
        for runtime in _runtimes.values():
            runtime.close()
        _runtimes.clear()
        _stop_asked.clear()


def stop_asked() -> SeedbedError | None:
    """Why this process was told to stop, if it was."""
    return _stop_asked[0] if _stop_asked else None


def stop_runtimes(reason: SeedbedError) -> None:
    """Stop all runtimes of this process, also those not yet made; safe to call from a signal handler."""
    _stop_asked.append(reason)
    for runtime in list(_runtimes.values()):
        runtime.stop(reason)
