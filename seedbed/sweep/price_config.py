"""What a model charges, as a config says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ServiceTier = Literal["flex", "balanced", "priority", "ultrafast"]


class _OtherKinds(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    cached_input: float | None = Field(default=None, ge=0)
    """Input tokens the provider had in its own prompt cache; null charges them as input."""
    cache_write: float | None = Field(default=None, ge=0)
    """Input tokens it wrote into that cache; null charges them as input."""
    cache_write_1h: float | None = Field(default=None, ge=0)
    """Those that it keeps for an hour; null charges them as `cache_write`."""
    reasoning: float | None = Field(default=None, ge=0)
    """Reasoning tokens; null charges them as output, as nearly all providers do."""
    audio_input: float | None = Field(default=None, ge=0)
    audio_output: float | None = Field(default=None, ge=0)
    image_input: float | None = Field(default=None, ge=0)
    image_output: float | None = Field(default=None, ge=0)


class TokenRates(_OtherKinds):
    """US dollars per million tokens; what is left out is charged as its kind in general is."""

    input: float | None = Field(default=None, ge=0)
    output: float | None = Field(default=None, ge=0)


class LongContext(TokenRates):
    """Rates of requests whose input is longer."""

    above_tokens: int = Field(ge=1)


class TierRates(TokenRates):
    """Rates of a service tier."""

    long_context: list[LongContext] = []


class Price(_OtherKinds):
    """US dollars per million tokens, in all the ways that a provider may charge."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    long_context: list[LongContext] = []
    """Other rates for the whole request where its input is longer."""
    service_tiers: Mapping[ServiceTier, TierRates] = Field(default_factory=dict)
    batch: TokenRates | None = None
    per_request: float | None = Field(default=None, ge=0)
    """US dollars a request, beside its tokens."""
    per_search: float | None = Field(default=None, ge=0)
    """US dollars a search of the web that the provider makes."""
