"""The most that a request can cost, which is set aside before it is sent: a cap holds only for what was reserved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from seedbed.lm.prices.price import ModelPrice
from seedbed.lm.prices.price_list import context_limit, output_limit
from seedbed.lm.prices.rates import TIERS, Rates, suffix
from seedbed.lm.request_size import RequestSize, most_output
from seedbed.lm.types import JsonDict
from seedbed.sweep.model_config import ModelConfig

_UNKNOWN_CONTEXT = 1_000_000
_STANDARD = ("default", "standard")
_WEEK = tuple(datetime(2024, 1, day, hour, 30, tzinfo=UTC) for day in range(1, 8) for hour in range(24))
"""For providers that charge by the hour."""

_Flags = tuple[str | None, bool, bool, bool, bool]


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Bounds for the requests of one model."""

    model: ModelConfig
    price: ModelPrice
    _steps: list[int]
    _found: dict[tuple[int, _Flags], tuple[float, float]]
    batch: bool = False
    """Whether the requests are answered by batches."""

    @classmethod
    def of(cls, model: ModelConfig, price: ModelPrice, *, batch: bool = False) -> WorstCase:
        ends = {""} if batch else {"", *TIERS.values()}
        steps = {step for end in ends for step in price.steps(end, batch=batch)}
        return cls(model, price, sorted(steps), {}, batch)

    def usd(self, body: JsonDict, size: RequestSize) -> float:
        """US dollars: every token at the dearest rate that it could be billed at. Fresh or written to a cache, at any
        service tier that may serve it, at the rates for long inputs as soon as it could be one; as much output as it
        may give, in each of its answers; fees for the request, for pictures and for searches."""
        tokens_in = size.most
        if size.files or size.searches:
            # What is found is read as input, in as many rounds as there are searches.
            tokens_in += (context_limit(self.model.model) or _UNKNOWN_CONTEXT) * (1 + size.searches)
        tokens_out = most_output(body, self.model.max_tokens or output_limit(self.model.model))
        tier = body.get("service_tier")
        flags = (
            tier if isinstance(tier, str) else None,
            size.audio or size.files,
            size.images > 0 or size.files,
            bool(body.get("modalities") or body.get("audio")),
            body.get("speed") == "fast",
        )
        key = (bisect_right(self._steps, tokens_in), flags)
        if key not in self._found:
            self._found[key] = self._dearest(*key)
        rate_in, rate_out = self._found[key]
        fees = self.price.fees(size.searches) + size.images * self.price.image_fee
        return tokens_in * rate_in + tokens_out * rate_out + fees

    def _dearest(self, steps: int, flags: _Flags) -> tuple[float, float]:
        """Dollars a token of input and of output, at most."""
        tier, audio, images, speaks, fast = flags
        rate_in = rate_out = 0.0
        for rates in self._possible(steps, tier):
            inputs = [rates.input, rates.cached, rates.written, rates.written_1h]
            inputs += [rates.audio_in, rates.cached_audio, rates.video_in] if audio else []
            inputs += [rates.image_in] if images else []
            outputs = [rates.output, rates.reasoning, rates.image_out, rates.video_out]
            rate_in = max(rate_in, *inputs)
            rate_out = max(rate_out, *outputs, *([rates.audio_out] if speaks else []))
        factor = self.price.factor
        for name, value in (self.price.entry.get("provider_specific_entry") or {}).items():
            factor *= max(1.0, float(value)) if fast or name != "fast" else 1.0
        return rate_in * factor, rate_out * factor

    def _possible(self, steps: int, tier: str | None) -> Iterator[Rates]:
        """All rates that such a request may be billed at. Without a word on the tier the provider's settings decide."""
        sizes = (1, *(step + 1 for step in self._steps[:steps]))
        if self.batch:
            yield from (self.price.rates(size, batch=True) for size in sizes)
            return
        asked = tier.lower() if tier else "auto"
        tiers = {None, asked} if asked in TIERS or asked in _STANDARD else {None, *TIERS}
        moments = _WEEK if self.price.entry.get("off_peak_pricing") else _WEEK[:1]
        for size in sizes:
            for name in {suffix(name): name for name in tiers}.values():
                for moment in moments:
                    yield self.price.rates(size, name, at=moment)
