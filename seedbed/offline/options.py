"""What a sweep may set about the offline model."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

Rate = Annotated[float, Field(ge=0.0, le=1.0)]


class ErrorRates(BaseModel):
    """Shares of attempts that go wrong. Each attempt draws anew, so a retry of a failed request can succeed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    rate_limit: Rate = 0.0
    """Refused with status 429 and a short Retry-After."""
    server: Rate = 0.0
    """Refused with status 500."""
    timeout: Rate = 0.0
    """No reply in time."""
    malformed: Rate = 0.0
    """A reply that lacks the format asked for. It is billed like any other."""
    no_usage: Rate = 0.0
    """A good reply whose body does not say how many tokens it took."""

    @model_validator(mode="after")
    def _leave_room_for_success(self) -> ErrorRates:
        total = self.rate_limit + self.server + self.timeout + self.malformed
        # no_usage is left out: it accompanies a good reply, while the other four exclude each other.
        if total > 1.0 + 1e-9:
            raise ValueError(f"rate_limit + server + timeout + malformed is {total:g}; together they may be at most 1")
        return self


class OfflineOptions(BaseModel):
    """How able, how steady, how fast and how reliable the offline model is."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    ability: Rate = 0.85
    """Chance of taking the best candidate (sentence, span, verdict) and not the next best. Crossing from one language
    to another takes a second success, so it lowers that chance to its square."""
    noise: Rate = 0.1
    """Additional chance of a slip when the temperature is above 0, drawn anew for each seed."""
    latency_ms: Annotated[float, Field(ge=0.0)] = 0.0
    """How long each attempt takes."""
    errors: ErrorRates = ErrorRates()
    """Faults to inject."""
