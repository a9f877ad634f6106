"""Rates: dollars a token of each kind, as they hold for one request: of a size, at a service tier, at an hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]
"""What a model charges, under the names of litellm's list: `input_cost_per_token_above_200k_tokens_priority` and so
on. What a config gives is brought into the same words."""

TIERS: Mapping[str, str] = {
    "flex": "_flex",
    "balanced": "_balanced",
    "priority": "_priority",
    "fast": "_priority",
    "ultrafast": "_ultrafast",
}
"""Service tiers that have prices of their own; any other is charged as the standard one."""
_NOT_STANDARD = (*sorted(set(TIERS.values()), key=len, reverse=True), "_batches")
_BY_LENGTH = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost",
              "cache_creation_input_token_cost")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars a token."""

    input: float
    output: float
    cached: float
    written: float
    written_1h: float
    reasoning: float
    cached_audio: float
    audio_in: float
    image_in: float
    video_in: float
    audio_out: float
    image_out: float
    video_out: float


def suffix(tier: str | None) -> str:
    """What a tier's prices have behind their names; nothing for the standard one."""
    return TIERS.get(tier.lower(), "") if tier else ""


def thresholds(entry: Entry, tier: str = "", *, batch: bool = False) -> list[tuple[int, str]]:
    """Lengths of the input from which on other prices hold, shortest first, each with its word in the names."""
    found: dict[str, int] = {}
    for key in entry:
        if not key.startswith(_BY_LENGTH) or "_above_" not in key or "_tokens" not in key or entry[key] is None:
            continue
        if key.endswith("_batches") != batch or (
            key.endswith(_NOT_STANDARD[:-1]) and not (tier and key.endswith(tier))
        ):
            continue
        word = key.rsplit("_above_", 1)[1].split("_tokens")[0]
        found[word] = int(float(word.rstrip("k")) * (1000 if word.endswith("k") else 1))
    return sorted((length, word) for word, length in found.items())


def standard_rates(
    entry: Entry, tokens_in: int, tier: str, *, inclusive: bool, off_peak: Entry | None, cached_share: float = 1.0
) -> Rates:
    """The rates for a request of so many input tokens. `tier` is the suffix of its service tier; `cached_share` is what
    cached input costs of other input where the list has no price for it."""
    block = _block(entry, tokens_in)
    found = _from_block(entry, block) if block else _from_lengths(entry, tokens_in, tier, inclusive=inclusive)
    if off_peak is not None:
        found |= {name: float(off_peak[key]) for name, key in _OFF_PEAK.items() if off_peak.get(key) is not None}
    base, output = found["input"] or 0.0, found["output"] or 0.0
    written = base if found["written"] is None else found["written"]
    cached = base * cached_share if found["cached"] is None else found["cached"]
    audio_cached = _number(entry, "cache_read_input_audio_token_cost" + tier)
    return Rates(
        input=base,
        output=output,
        cached=cached,
        written=written,
        written_1h=written if found["written_1h"] is None else found["written_1h"],
        reasoning=_reasoning(entry, block, tier, output, off_peak),
        cached_audio=cached if audio_cached is None else audio_cached,
        audio_in=_or(_number(entry, "input_cost_per_audio_token" + tier), base),
        image_in=_or(_number(entry, "input_cost_per_image_token" + tier), base),
        video_in=_or(_number(entry, "input_cost_per_video_token" + tier), base),
        audio_out=_or(_number(entry, "output_cost_per_audio_token"), output),
        image_out=_or(_number(entry, "output_cost_per_image_token"), output),
        video_out=_or(_number(entry, "output_cost_per_video_token"), output),
    )


def batch_rates(entry: Entry, tokens_in: int, *, inclusive: bool) -> Rates:
    """The rates of a batch: its own, or half of the standard ones, which is what most providers charge."""

    def own(name: str) -> float | None:
        value = _plain(entry, f"{name}_batches")
        for length, word in thresholds(entry, batch=True):
            if tokens_in > length or (inclusive and tokens_in == length):
                value = _or(_plain(entry, f"{name}_above_{word}_tokens_batches"), value)
        return value

    base = own("input_cost_per_token")
    output = _or(own("output_cost_per_token"), (_plain(entry, "output_cost_per_token") or 0.0) / 2)
    if base is not None:
        # Without a price of its own for them, what a cache has to do with is input like any other.
        cached, written = _or(own(_BY_LENGTH[2]), base), _or(own(_BY_LENGTH[3]), base)
        audio, image, video = (_or(_plain(entry, f"input_cost_per_{kind}_token_batches"), base) for kind in _KINDS)
    else:
        base = (_plain(entry, "input_cost_per_token") or 0.0) / 2
        cached = (_plain(entry, "cache_read_input_token_cost") or 0.0) / 2
        written = (_plain(entry, "cache_creation_input_token_cost") or 0.0) / 2 or base
        audio = image = video = base
    drawn = _plain(entry, "output_cost_per_image_token")
    image_out = _or(_plain(entry, "output_cost_per_image_token_batches"), output if drawn is None else drawn / 2)
    return Rates(base, output, cached, written, written, output, cached, audio, image, video, output, image_out, output)


_KINDS = ("audio", "image", "video")
_OFF_PEAK = {"input": _BY_LENGTH[0], "output": _BY_LENGTH[1], "cached": _BY_LENGTH[2], "written": _BY_LENGTH[3]}


def _from_lengths(entry: Entry, tokens_in: int, tier: str, *, inclusive: bool) -> dict[str, float | None]:
    keys = {**_OFF_PEAK, "written_1h": "cache_creation_input_token_cost_above_1hr"}
    found = {name: _number(entry, key if name == "written_1h" else key + tier) for name, key in keys.items()}
    if not found["output"]:
        # Models that only draw have no other price for what they give.
        found["output"] = _or(_number(entry, "output_cost_per_image_token"), found["output"])
    for length, word in thresholds(entry, tier):
        if tokens_in > length or (inclusive and tokens_in == length):
            for name, key in keys.items():
                found[name] = _or(_number(entry, f"{key}_above_{word}_tokens{tier}"), found[name])
    return found


def _block(entry: Entry, tokens_in: int) -> Entry | None:
    """Where a list has a table of whole blocks: the one that a request of this size is charged by."""
    blocks = sorted(entry.get("tiered_pricing") or (), key=lambda block: block["range"][0])
    if not blocks or tokens_in <= 0:
        return None
    return next((block for block in blocks if block["range"][0] < tokens_in <= block["range"][1]), blocks[-1])


def _from_block(entry: Entry, block: Entry) -> dict[str, float | None]:
    found = {name: _plain(block, key) for name, key in _OFF_PEAK.items()}
    if "output_cost_per_token" not in block:
        found["output"] = _plain(entry, "output_cost_per_token")
    return {**found, "written_1h": _plain(block, "cache_creation_input_token_cost_above_1hr")}


def _reasoning(entry: Entry, block: Entry | None, tier: str, output: float, off_peak: Entry | None) -> float:
    key = "output_cost_per_reasoning_token"
    if off_peak is not None and off_peak.get(key) is not None:
        return float(off_peak[key])
    if block is not None and (key in block or "output_cost_per_token" in block):
        return _or(_plain(block, key), _plain(block, "output_cost_per_token")) or 0.0
    own = _plain(entry, key + tier)
    if own is None and tier and _plain(entry, "output_cost_per_token" + tier) is not None:
        return output
    return _or(own, _or(_plain(entry, key), output))


def _number(entry: Entry, key: str) -> float | None:
    """The price under a name; a tier that has none is charged as the standard one."""
    value = _plain(entry, key)
    if value is None:
        for tier in _NOT_STANDARD[:-1]:
            if tier in key:
                return _plain(entry, key.replace(tier, ""))
    return value


def _plain(entry: Entry, key: str) -> float | None:
    value = entry.get(key)
    return None if value is None else float(value)


def _or(value: float | None, other: Any) -> Any:
    return other if value is None else value
