"""The price of a model: what any usage costs, and the most that a request can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from seedbed.lm.prices.off_peak import is_off_peak
from seedbed.lm.prices.rates import TIERS, Entry, Rates, batch_rates, standard_rates, suffix, thresholds
from seedbed.lm.types import Usage

_STATES_COST = frozenset({"xai", "perplexity", "openrouter"})
"""Providers whose responses say what they cost, fees included."""
_CACHED_SHARE = {"fireworks_ai": 0.5}
_GROUNDED_PROMPT_USD = 0.035
_XAI_SEARCH_USD = 0.005

_Key = tuple[int, str, bool, bool]


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model charges. Two of the same list entry are equal."""

    entry: Entry
    source: str
    provider: str = ""
    factor: float = 1.0
    """For where it is served: some providers charge more outside their worldwide endpoint."""
    _rates: dict[_Key, Rates] = field(default_factory=dict[_Key, Rates], compare=False, repr=False)
    _steps: dict[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]], compare=False, repr=False)

    def cost(self, usage: Usage, *, batch: bool = False, at: datetime | None = None) -> float:
        """US dollars, at the service tier of the usage. `at` is for providers whose nights are cheaper; now, if left
        out."""
        if usage.told_usd is not None and self.provider in _STATES_COST and not batch:
            return usage.told_usd
        rates = self.rates(usage.input, usage.tier, batch=batch, at=at)
        spoken = usage.cached_audio + usage.audio_in + usage.image_in + usage.video_in
        drawn = usage.audio_out + usage.image_out + usage.video_out
        text_in = usage.input - usage.cached - usage.written - usage.audio_in - usage.image_in - usage.video_in
        dollars = (
            text_in * rates.input
            + (usage.cached - usage.cached_audio) * rates.cached
            + (usage.output - usage.reasoning - drawn) * rates.output
            + usage.reasoning * rates.reasoning
        )
        if usage.written:
            dollars += (usage.written - usage.written_1h) * rates.written + usage.written_1h * rates.written_1h
        if spoken or drawn:
            dollars += (
                usage.cached_audio * rates.cached_audio
                + usage.audio_in * rates.audio_in
                + usage.image_in * rates.image_in
                + usage.video_in * rates.video_in
                + usage.audio_out * rates.audio_out
                + usage.image_out * rates.image_out
                + usage.video_out * rates.video_out
            )
        for name in usage.surcharges:
            dollars *= self.surcharge(name)
        dollars *= self.factor
        return dollars + self.fees(usage.searches)

    def rates(
        self, tokens_in: int, tier: str | None = None, *, batch: bool = False, at: datetime | None = None
    ) -> Rates:
        """Dollars a token for a request with so much input."""
        own = suffix(tier)
        rule = self.entry.get("off_peak_pricing")
        cheap = rule is not None and not batch and is_off_peak(rule, at or datetime.now(UTC))
        steps = self.steps(own, batch=batch)
        inclusive = self.provider == "xai"
        step = sum(tokens_in > at_least or (inclusive and tokens_in == at_least) for at_least in steps)
        key = (step, own, batch, cheap)
        if key not in self._rates:
            size = steps[step - 1] + 1 if step else min(tokens_in, 1)
            self._rates[key] = (
                batch_rates(self.entry, size, inclusive=inclusive)
                if batch
                else standard_rates(
                    self.entry, size, own, inclusive=inclusive, off_peak=rule if cheap else None,
                    cached_share=_CACHED_SHARE.get(self.provider, 1.0),
                )
            )  # fmt: skip
        return self._rates[key]

    def steps(self, tier: str = "", *, batch: bool = False) -> Sequence[int]:
        """Lengths of the input above which other rates hold."""
        name = f"{tier}{batch}"
        if name not in self._steps:
            blocks = [] if batch else [int(block["range"][0]) for block in self.entry.get("tiered_pricing") or ()]
            lengths = {length for length, _ in thresholds(self.entry, tier, batch=batch)}
            self._steps[name] = sorted({*lengths, *blocks})
        return self._steps[name]

    @property
    def tiers(self) -> list[str]:
        """Service tiers with rates of their own."""
        return [tier for tier, end in TIERS.items() if tier != "fast" and any(key.endswith(end) for key in self.entry)]

    def surcharge(self, name: str) -> float:
        """The factor for a place or a speed."""
        return float((self.entry.get("provider_specific_entry") or {}).get(name, 1.0))

    def fees(self, searches: int) -> float:
        """What is charged beside tokens: for the request, and for searches of the web."""
        return float(self.entry.get("input_cost_per_request") or 0.0) + (
            searches * self.search_fee if searches else 0.0
        )

    @property
    def image_fee(self) -> float:
        """Dollars a picture of the request, where that is charged."""
        return float(self.entry.get("input_cost_per_image") or 0.0)

    @property
    def search_fee(self) -> float:
        """Dollars a search of the web that the provider makes."""
        listed = self.entry.get("search_context_cost_per_query") or {}
        if self.provider == "perplexity":
            return float(listed.get("search_context_size_low") or 0.0)
        default = {"gemini": _GROUNDED_PROMPT_USD, "xai": _XAI_SEARCH_USD}.get(self.provider, 0.0)
        return float(listed.get("search_context_size_medium", default))
