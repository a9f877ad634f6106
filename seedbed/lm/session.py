"""Models outside a sweep: for commands that judge or write texts on their own. Everything asked is on a ledger, so a
command that was interrupted goes on where it stopped when it is given again."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from seedbed.errors import Interrupted, UserError
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.ledger import CallScope, Cap
from seedbed.lm.ledger.reads import PhaseUsage, phase_usage
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import Limits, ModelConfig

if TYPE_CHECKING:
    from seedbed.lm.lm import SeedbedLM

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Session:
    """One model and one ledger. Calls are recorded under the command's name as sweep and phase."""

    runtime: LMRuntime
    command: str
    subject: str
    """What the command works on; stands where a sweep has its cell."""
    model: ModelConfig
    seed: int
    execution: str
    max_usd: float | None = None
    """No call is started that could take the command, over all times it was given, past this sum."""

    def lm(self, role: str) -> SeedbedLM:
        scope = CallScope(
            sweep=self.command,
            cell=self.subject,
            phase=self.command,
            role=role,
            execution=self.execution,
            model=self.model.model,
            seed=self.seed,
        )
        caps = () if self.max_usd is None else (Cap(f"sweep:{self.command}", self.max_usd),)
        return self.runtime.lm(scope, caps)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the runtime's loop and wait for it."""
        return self.runtime.run(_quietly(work))

    async def each(
        self, items: Mapping[str, T], work: Callable[[T], Awaitable[R]], *, at_once: int | None = None
    ) -> list[R]:
        """Do some work for every item, results in order; `at_once` of them at a time, or as many as the model's limits
        allow calls. Calls made meanwhile are recorded under the item's key; a stop of the runtime is raised when the
        others have ended."""
        gate = asyncio.Semaphore(at_once or self.model.limits.concurrency)

        async def one(key: str, item: T) -> R:
            async with gate:
                self.runtime.check_stop()
                token = CURRENT_SAMPLE.set((key, 0))
                try:
                    return await work(item)
                finally:
                    CURRENT_SAMPLE.reset(token)

        done = await asyncio.gather(*(one(key, item) for key, item in items.items()), return_exceptions=True)
        self.runtime.check_stop()
        return list(_results(done))

    def usage(self) -> PhaseUsage:
        """Calls, tokens and dollars of this session."""
        return phase_usage(self.runtime.ledger.engine, self.subject, self.command, self.execution)


@contextmanager
def open_session(
    command: str, subject: str, model: ModelConfig, ledger: Path, *, seed: int = 0, max_usd: float | None = None
) -> Iterator[Session]:
    """A session whose ledger is the given file; closed, with all rows written, at the end."""
    ledger.parent.mkdir(parents=True, exist_ok=True)
    runtime = LMRuntime(f"sqlite:///{ledger}", {model.model: model})
    try:
        yield Session(runtime, command, subject, model, seed, uuid.uuid4().hex[:12], max_usd)
    except KeyboardInterrupt:
        runtime.stop(Interrupted("stopped by the user"))  # calls in flight end, no new one begins
        raise
    finally:
        runtime.close()


def model_of(
    name: str,
    *,
    option: str = "--model",
    api_base: str | None = None,
    key_env: str | None = None,
    concurrency: int = 8,
    temperature: float = 0.0,
    options: Mapping[str, Any] | None = None,
) -> ModelConfig:
    """The model that a command line names."""
    try:
        return ModelConfig(
            model=name,
            api_base=api_base,
            api_key_env=key_env,
            temperature=temperature,
            limits=Limits(concurrency=concurrency),
            options=dict(options or {}),
        )
    except ValidationError:
        raise UserError(
            f"{option} {name}: not a model; write PROVIDER/NAME, for example openai/gpt-4.1-mini or offline/judge."
        ) from None


async def _quietly(work: Awaitable[T]) -> T:
    import dspy

    from seedbed.lm.adapter import quick_adapter

    with dspy.context(adapter=quick_adapter(), disable_history=True, track_usage=False):
        return await work


def _results(done: Sequence[R | BaseException]) -> Iterator[R]:
    for result in done:
        if isinstance(result, BaseException):
            raise result
        yield result
