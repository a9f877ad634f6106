"""How the calls of a model are gathered into batches: the part of a config under `batch:` of a model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

BatchProtocol = Literal["openai", "anthropic"]

SPEAKS_OPENAI = frozenset(
    {"openai", "hosted_vllm", "vllm", "ollama", "ollama_chat", "lm_studio", "llamafile", "llamacpp"}
)
"""Prefixes of litellm names whose servers speak the OpenAI dialect at the address given as api_base."""
CELLS_AT_ONCE = 64
"""Cells worked on at once where calls wait in batches, unless told otherwise: a batch holds what all of them ask."""


class BatchConfig(BaseModel):
    """For a model with `service: batch`."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    size: int = Field(default=1000, ge=1, le=50_000)
    """Requests in one batch; as soon as there are so many, it is sent."""
    age_s: float = Field(default=60.0, ge=0)
    """How long a request waits for others before what has gathered is sent."""
    poll_s: float = Field(default=30.0, gt=0)
    """How often the provider is asked how far a batch has come."""
    fallback: Literal["batch", "online"] = "batch"
    """How a request is made again that failed, expired or was cancelled in its batch: in the next one, or by a normal
    call at the normal price."""
    optimise: Literal["online", "batch"] = "online"
    """How optimizers ask, whose calls depend on each other: each would wait for a batch of its own."""
    max_waiting: int = Field(default=50_000, ge=1)
    """Samples of a cell that may wait at once."""
    settle_s: float = Field(default=15.0, ge=0)
    """How long a batch whose creation was cut off, or results that are missing, are looked for at the provider before
    what they hold is asked again."""


def batch_protocol(model: str, api_base: str | None) -> BatchProtocol | None:
    """What a model's batches are spoken in; None where none that is known has them."""
    prefix = model.partition("/")[0]
    if prefix == "anthropic":
        return "anthropic"
    return "openai" if prefix == "openai" or (api_base and prefix in SPEAKS_OPENAI) else None
