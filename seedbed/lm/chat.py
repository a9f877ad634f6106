"""Chats: what one call of DSPy is to the runtime, attempt by attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.attempts import Binding, Kind, Query
from seedbed.lm.prices import output_limit
from seedbed.lm.providers import make_provider
from seedbed.lm.tokens import usage_of
from seedbed.lm.types import Attempt, HasSlots, JsonDict

if TYPE_CHECKING:
    from seedbed.lm.runtime import LMRuntime

T = TypeVar("T")


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


class Chat:
    """The chats of one binding, on the runtime's loop."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        self._runtime = runtime
        self._binding = binding

    async def attempt(
        self, body: JsonDict, read: Callable[[JsonDict, str], T], call: Call, sample: tuple[str | None, int]
    ) -> T:
        """One attempt at a body; `read` takes a completion and the model's name. Failures are DSPy's lm15 errors."""
        try:
            return await self._runtime.attempt(self.query(body, read, call, sample))
        except ProviderError as error:
            call.pause_s = codec.retry_delay(error, self._binding.model, call.number)
            raise codec.to_dspy_error(error) from error

    def query(
        self, body: JsonDict, read: Callable[[JsonDict, str], T], call: Call, sample: tuple[str | None, int]
    ) -> Query[T]:
        """What is asked of the runtime."""
        scope, model = self._binding.scope, self._binding.model
        # What makes two requests equal; what is sent stays as it is.
        known_by = self._binding.normalise(body)
        random = is_random(body)
        seed = scope.seed if random else None
        rollout = call.rollout if random else None
        draws = scope.draws if random else ""
        repeat = (rollout, call.candidate, sample[1])
        key = codec.request_key(known_by, model, seed, repeat, draws)
        attempt = Attempt(key, seed, call.candidate + sample[1], call.number, model.timeout_s, rollout)
        provider = self._runtime.keep(f"chat:{scope.model}", lambda: make_provider(model))
        slots = provider.slots if isinstance(provider, HasSlots) else None
        kind = Kind(
            provider.chat, lambda reply: read(reply, model.model), usage_of, _worth_keeping, slots, batches=True
        )
        if seed is not None:
            # Not part of the key, which holds the sweep's own seed.
            body = codec.seeded(body, model, seed, (*repeat, draws), known_by)
        if self._binding.caps:
            # Not part of the key: a cap that is set later must not make stored answers useless.
            body = codec.limited(body, model, output_limit(model.model))
        return Query(self._binding, kind, body, attempt, sample[0], call.pause_s)


def is_random(body: JsonDict) -> bool:
    """Whether the same request may have another answer. Without a temperature the provider takes its own, not 0."""
    temperature = body.get("temperature")
    return temperature is None or temperature > 0


def _worth_keeping(reply: JsonDict) -> bool:
    return not codec.is_empty(reply)
