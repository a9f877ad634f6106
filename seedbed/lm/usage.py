"""Reading what a response says it used, in the forms of the providers: OpenAI's chat and responses APIs, Anthropic's
messages API, and what litellm makes of all others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from seedbed.lm.types import Answerer, JsonDict, Usage
from seedbed.storage.redact import redact

_MOST_TOKENS = 100_000_000
_MOST_DOLLARS = 10_000.0
"""Of one call. What is more cannot be meant, and would use up any budget; what is not a number is not less."""
_PLAIN = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_NOTHING: Mapping[str, Any] = {}
_WORLDWIDE = ("global", "not_available")
_MORE = (
    *("written_1h", "cached_audio", "audio_in", "image_in", "video_in", "audio_out", "image_out", "video_out"),
    *("searches", "tier", "surcharges", "told_usd", "cut"),
)
"""Fields of a usage that few responses have; the ledger keeps them in one column."""
_rare = attrgetter(*_MORE)


def told_usage(response: JsonDict) -> Usage | None:
    """What a response says it used, or None where it does not say, or says what cannot be meant."""
    told = response.get("usage")
    return read_usage(told, response.get("service_tier")) if isinstance(told, dict) else None


def read_usage(told: Mapping[str, Any], tier: Any = None) -> Usage | None:
    """A usage in any of the providers' forms. `tier` is the service tier that stands beside it."""
    sent, received = token_count(told.get("prompt_tokens")), token_count(told.get("completion_tokens"))
    if sent is None or received is None:
        return _read_by_other_names(told, tier)
    details = _part(told, "prompt_tokens_details")
    cached = _first(details.get("cached_tokens"), told.get("prompt_cache_hit_tokens"))
    written = _first(
        details.get("cache_write_tokens"), details.get("cache_creation_tokens"), told.get("cache_creation_input_tokens")
    )
    durations = _part(details, "cache_creation_token_details")
    return _usage(told, tier, sent, received, cached, written, durations, details)


def _read_by_other_names(told: Mapping[str, Any], tier: Any) -> Usage | None:
    """`input_tokens` are all of the input with OpenAI; with Anthropic those that no cache had to do with."""
    sent, received = token_count(told.get("input_tokens")), token_count(told.get("output_tokens"))
    if sent is None or received is None:
        return None
    read, written = told.get("cache_read_input_tokens"), told.get("cache_creation_input_tokens")
    if read is None and written is None:
        details = _part(told, "input_tokens_details")
        written = _first(details.get("cache_write_tokens"))
        return _usage(told, tier, sent, received, _first(details.get("cached_tokens")), written, _NOTHING, details)
    cached, stored = token_count(read) or 0, token_count(written) or 0
    durations = _part(told, "cache_creation")
    return _usage(told, tier, sent + cached + stored, received, cached, stored, durations, _NOTHING)


def _usage(
    told: Mapping[str, Any],
    tier: Any,
    sent: int,
    received: int,
    cached: int,
    written: int,
    durations: Mapping[str, Any],
    details: Mapping[str, Any],
) -> Usage:
    out = told.get("completion_tokens_details") or told.get("output_tokens_details") or _NOTHING
    cached = min(sent, cached)
    written = min(sent - cached, written)
    if tier is None and told.keys() <= _PLAIN:
        return Usage(sent, received, cached, written=written)
    out = out if isinstance(out, dict) else _NOTHING
    reasoning = _first(out.get("reasoning_tokens"), told.get("reasoning_tokens"))
    if reasoning and told.get("total_tokens") == sent + received + reasoning:
        received += reasoning  # xAI counts them beside the answer
    heard = _part(details, "cached_tokens_details")
    cached_audio = min(cached, _first(heard.get("audio_tokens")))
    cached_image = min(cached - cached_audio, _first(heard.get("image_tokens")))
    # What came from a cache is billed as such, whatever it was.
    fresh = sent - cached - written
    audio_in = min(fresh, max(0, _first(details.get("audio_tokens")) - cached_audio))
    image_in = min(fresh - audio_in, max(0, _first(details.get("image_tokens")) - cached_image))
    video_in = min(fresh - audio_in - image_in, _first(details.get("video_tokens")))
    reasoning = min(received, reasoning)
    audio_out = min(received - reasoning, _first(out.get("audio_tokens")))
    image_out = min(received - reasoning - audio_out, _first(out.get("image_tokens")))
    video_out = min(received - reasoning - audio_out - image_out, _first(out.get("video_tokens")))
    return Usage(
        input=sent,
        output=received,
        cached=cached,
        reasoning=reasoning,
        written=written,
        written_1h=min(written, _first(durations.get("ephemeral_1h_input_tokens"))),
        cached_audio=cached_audio,
        audio_in=audio_in,
        image_in=image_in,
        video_in=video_in,
        audio_out=audio_out,
        image_out=image_out,
        video_out=video_out,
        searches=_searches(told, details),
        tier=_word(tier) or _word(told.get("service_tier")),
        surcharges=_surcharges(told),
        told_usd=_dollars(told.get("cost")),
    )


def who_answered(response: JsonDict, provider: str) -> Answerer:
    """Who a response says it comes from; `provider` is whom it was asked of."""
    usage = response.get("usage")
    tier = _word(response.get("service_tier")) or (
        _word(usage.get("service_tier")) if isinstance(usage, dict) else None
    )
    return Answerer(
        _word(response.get("model")),
        _word(response.get("system_fingerprint")),
        _word(response.get("provider")) or provider,
        tier,
    )


def rare_fields(usage: Usage) -> dict[str, Any] | None:
    """What few usages have, by name, for the ledger; None where there is nothing of it."""
    values = _rare(usage)
    return {name: value for name, value in zip(_MORE, values, strict=True) if value} if any(values) else None


def with_rare_fields(usage: Usage, fields: Mapping[str, Any]) -> Usage:
    """The usage as it was before `rare_fields` took them out."""
    known = {name: value for name, value in fields.items() if name in _MORE}
    if "surcharges" in known:
        known["surcharges"] = tuple(known["surcharges"])
    return usage._replace(**known)


def _searches(told: Mapping[str, Any], details: Mapping[str, Any]) -> int:
    return _first(
        details.get("web_search_requests"),
        _part(told, "server_tool_use").get("web_search_requests"),
        _part(told, "server_side_tool_usage_details").get("web_search_calls"),
    )


def _surcharges(told: Mapping[str, Any]) -> tuple[str, ...]:
    place, speed = _word(told.get("inference_geo")), _word(told.get("speed"))
    found = [place.lower()] if place and place.lower() not in _WORLDWIDE else []
    return (*found, "fast") if speed == "fast" else tuple(found)


def _dollars(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("total_cost")
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_DOLLARS
    return float(value) if usable else None


def _word(value: Any) -> str | None:
    """A short text that a database can hold, without a key that an endpoint quotes."""
    if not isinstance(value, str) or not value:
        return None
    return _masked(value)[:200].replace("\0", "").encode("utf-8", "replace").decode() or None


@lru_cache(maxsize=256)
def _masked(name: str) -> str:
    """Names of models and tiers are the same in every reply: they are searched once."""
    return redact(name)


def _part(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = told.get(name)
    return found if isinstance(found, dict) else _NOTHING


def _first(*values: Any) -> int:
    """The first that is a number of tokens above 0."""
    for value in values:
        if found := token_count(value):
            return found
    return 0


def token_count(value: Any) -> int | None:
    """A number of tokens that can be meant; another is as good as none, and no database has to hold it."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None
