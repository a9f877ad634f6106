"""The whole contract between the engine and a provider.

Requests and responses travel as the JSON bodies of the OpenAI chat API: every provider here either speaks that
dialect already or is a few lines away from it, and the bodies can be stored in the ledger as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response. `cached` is part of `input`, `reasoning` is part of `output`."""

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False


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
