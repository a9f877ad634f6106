"""What a system or a scorer may use of the cell it works for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from seedbed.suite.cases import Benchmark, Case, Prediction, SampleUsage

if TYPE_CHECKING:
    import dspy
    from openai import AsyncOpenAI, OpenAI

    from seedbed.lm.embeddings import Embedder

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Address:
    """Where programs of any language find the model of a role, for one sample, until the phase ends."""

    root: str
    """What Anthropic's clients take for a base URL."""
    key: str = field(repr=False)

    @property
    def base_url(self) -> str:
        """What OpenAI's clients take for a base URL."""
        return f"{self.root}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which both find it."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": self.key,
            "ANTHROPIC_BASE_URL": self.root,
            "ANTHROPIC_API_KEY": self.key,
        }


class PhaseContext(Protocol):
    """What a system or a scorer may use of the cell it works for."""

    @property
    def benchmark(self) -> Benchmark: ...

    @property
    def seed(self) -> int: ...

    @property
    def cache_dir(self) -> Path:
        """A folder for things that are slow to make and safe to lose, such as an index."""
        ...

    @property
    def folder(self) -> Path:
        """The cell's own folder, for files beyond those every cell has; write them with `seedbed.storage.store`."""
        ...

    def lm(self, role: str = "task") -> dspy.LM:
        """The model of a role. Its calls are recorded under this cell, phase and role."""
        ...

    def has_role(self, role: str) -> bool:
        """Whether `roles:` of the config names a model for the role; else the cell's own model plays it."""
        ...

    def embedder(self, role: str = "embedding") -> Embedder:
        """The embeddings of a role, by an OpenAI-compatible endpoint; its calls are recorded as an LM's are."""
        ...

    def client(self, role: str = "task") -> AsyncOpenAI:
        """OpenAI's own client for a role. Its requests go straight into the runtime, recorded as an LM's are; the
        config's model answers, whatever name is asked for."""
        ...

    def sync_client(self, role: str = "task") -> OpenAI:
        """The same for plain functions, which run in threads."""
        ...

    def address(self, role: str = "task") -> Address:
        """The same for anything else that speaks the protocols of OpenAI or Anthropic: an address on this machine and a
        key. Ask for it inside the sample that it is for."""
        ...

    async def release(self, address: Address) -> None:
        """End an address before its phase ends, once the calls that are on their way have come back."""
        ...

    def revoke(self, address: Address) -> None:
        """End an address at once."""
        ...

    async def each(self, cases: Sequence[Case], work: Callable[[Case], Awaitable[R]]) -> list[R]:
        """Do some work for every case, as many at once as the model allows, results in the order of the cases.
        Calls made meanwhile are recorded under the case's sample id."""
        ...

    def answers_of_rival(self, against: str | None) -> Mapping[str, Prediction]:
        """By sample id, what the system gave that a pairing scorer compares with, for the same benchmark, model and
        seed: SYSTEM or SYSTEM+OPTIMIZER, null for the experiment's baseline. Empty for that system itself."""
        ...

    def sample_usage(self) -> Mapping[str, SampleUsage]:
        """By sample id, what the generate phase of this cell took; empty for samples without a call."""
        ...
