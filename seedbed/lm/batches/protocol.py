"""The contract between the poller and a provider's batches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from seedbed.errors import ProviderError
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.types import Closable, JsonDict


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch has come, as its provider says."""

    status: str
    """In the provider's word."""
    ended: bool
    done: int = 0
    failed: int = 0
    why: ProviderError | None = None
    """What it means for a request of which the results say nothing."""
    results: tuple[str, ...] = ()
    """Where they are, once it has ended."""
    complete: bool = False
    """Whether each request has a result: one that is not among them is not there yet."""
    refused: tuple[tuple[int, str], ...] = ()
    """Rows that the provider took for reason to refuse the whole, by their place in the file from 1 on, and why."""


@dataclass(frozen=True, slots=True)
class Perhaps:
    """A batch that may be ours still runs; only its end will tell."""


class RowsRefused(ProviderError):
    """Some requests cannot be put as the provider wants them; nothing was sent."""

    def __init__(self, refused: Mapping[str, ProviderError]) -> None:
        super().__init__("invalid_request", f"{len(refused)} requests cannot be put", unsent=True)
        self.refused = dict(refused)
        """By custom id."""


class BatchApi(Closable, Protocol):
    """Asks a provider. What does not go well is a `ProviderError`."""

    async def upload(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str | None:
        """Hand over the requests, by custom id; what to call them by in `create`, where they are handed over first."""
        ...

    async def create(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str:
        """Have them worked on; from here on they are paid for. The provider's id of the batch. Raises
        `RowsRefused`, before anything is sent, where some are in the way of the others."""
        ...

    async def find(self, batch: Batch, since: float, known: Collection[str]) -> str | Perhaps | None:
        """The batch whose creation nobody saw the end of, among those made since then, if it was made. `requests` of
        the batch are those that were to be sent."""
        ...

    async def progress(self, provider_id: str) -> Progress: ...

    def results(self, provider_id: str, progress: Progress) -> AsyncIterator[tuple[str, JsonDict | ProviderError]]:
        """Custom id and reply of each request, or why there is none, in any order."""
        ...

    async def read(self, reply: JsonDict, request: JsonDict) -> JsonDict:
        """A reply as a chat completion."""
        ...

    async def cancel(self, provider_id: str) -> None:
        """Start no further request of it."""
        ...
