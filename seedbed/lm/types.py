"""The whole contract between the engine and a provider.

Requests and responses travel as the JSON bodies of the OpenAI chat API: every provider here either speaks that
dialect already or is a few lines away from it, and the bodies can be stored in the ledger as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

JsonDict = dict[str, Any]


class Usage(NamedTuple):
    """What one response used: all that its price depends on. `input` and `output` hold every token that is billed, the
    other counts are parts of them; what no part names is plain text. A tuple, because one is made for every call."""

    input: int
    output: int
    cached: int = 0
    """Read from the provider's prompt cache."""
    reasoning: int = 0
    estimated: bool = False
    written: int = 0
    """Written into the provider's prompt cache, for minutes or for an hour."""
    written_1h: int = 0
    """Of those, the ones kept for an hour."""
    cached_audio: int = 0
    audio_in: int = 0
    image_in: int = 0
    video_in: int = 0
    audio_out: int = 0
    image_out: int = 0
    video_out: int = 0
    searches: int = 0
    """Searches of the web that the provider made and bills one by one."""
    tier: str | None = None
    """The service tier that the response says it was served at, in the provider's word."""
    surcharges: tuple[str, ...] = ()
    """What the provider's list has a factor for: where it ran (`us`), how fast (`fast`)."""
    told_usd: float | None = None
    """The cost as the provider itself states it."""
    cut: bool = False
    """Whether the answer ended because no more tokens were allowed."""


class Answerer(NamedTuple):
    """Who answered, as far as the response says."""

    model: str | None = None
    fingerprint: str | None = None
    provider: str | None = None
    service_tier: str | None = None


NOBODY = Answerer()


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a provider may know of the attempt beside the request body."""

    key: str
    """The request's key in the ledger: equal requests have equal keys."""
    seed: int | None
    """The cell's seed when sampling is random (temperature above 0), else None."""
    repeat: int
    """Which of several honest repeats of the same request this is."""
    number: int
    """1 for the first try, 2 for the first retry, and so on."""
    timeout_s: float
    rollout: Any = None
    """DSPy's number for a further sample of the same request, where one was asked for and sampling is random."""


class Closable(Protocol):
    """Something that holds connections."""

    async def aclose(self) -> None:
        """Release them."""
        ...


class Provider(Closable, Protocol):
    """Sends one request once. Anything but a usable response is a `ProviderError`; retries are made elsewhere."""

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        """Return a chat completion body (`choices`, and `usage` where the provider tells it)."""
        ...


@runtime_checkable
class HasSlots(Protocol):
    """A provider that may know how many requests its server works on at once."""

    async def slots(self) -> int | None:
        """None where the server does not tell."""
        ...
