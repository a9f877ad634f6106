"""`seedbed prices`: what a model charges, in all its dimensions, and what a given usage costs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.lm.prices import OFFLINE_PRICE, ModelPrice, bundled_price, cost_of
from seedbed.lm.prices.off_peak import is_off_peak
from seedbed.lm.prices.rates import Rates, suffix

_LABELS = {
    "input": "input",
    "cached": "cached input",
    "written": "written to a cache",
    "written_1h": "written for an hour",
    "output": "output",
    "reasoning": "reasoning",
    "audio_in": "audio in",
    "image_in": "images in",
    "video_in": "video in",
    "audio_out": "audio out",
    "image_out": "images out",
    "video_out": "video out",
}
_LIKE_OTHERS = {
    "cached": "input", "written": "input", "written_1h": "written", "audio_in": "input", "image_in": "input",
    "video_in": "input", "reasoning": "output", "audio_out": "output", "image_out": "output", "video_out": "output",
}  # fmt: skip
"""Rates that are shown only where they are not those of a plainer kind."""


def run(arguments: argparse.Namespace) -> int:
    name: str = arguments.model
    price = OFFLINE_PRICE if name.startswith("offline/") else bundled_price(name)
    if price is None:
        raise UserError(
            f"the price of {name!r} is not in litellm's bundled list; give it in the config, "
            "price: {input: ..., output: ...} in dollars per million tokens."
        )
    print(f"{name} ({price.source}), dollars per million tokens:")
    for line in price_lines(price):
        print(f"  {line}")
    if arguments.usage is not None:
        usage = _usage(arguments.usage)
        cost = cost_of(name, usage, service_tier=arguments.service_tier, batch=arguments.batch)
        print(f"this usage costs ${cost:.12g}")
    return EXIT_OK


def price_lines(price: ModelPrice) -> Iterator[str]:
    """The standard prices, then those that differ: of long inputs, of service tiers, of batches; then fees."""
    day = _by_day(price)
    for tier in (None, *price.tiers):
        for step in (0, *price.steps(suffix(tier))):
            where = [f"{tier} tier"] if tier else []
            where += [f"input above {step:,} tokens"] if step else []
            yield _line(price.rates(step + 1, tier, at=day), ", ".join(where))
    if any(key.endswith("_batches") for key in price.entry):
        for step in (0, *price.steps(batch=True)):
            yield _line(price.rates(step + 1, batch=True), "batch" + (f", input above {step:,} tokens" if step else ""))
    if (rule := price.entry.get("off_peak_pricing")) is not None:
        yield f"less in off-peak hours: {json.dumps(rule, sort_keys=True)}"
    for name, factor in (price.entry.get("provider_specific_entry") or {}).items():
        yield f"times {factor:g} where served as {name!r}"
    fees = {"request": price.fees(0), "picture": price.image_fee, "search of the web": price.search_fee}
    yield from (f"${fee:g} a {what}" for what, fee in fees.items() if fee)


def _line(rates: Rates, where: str) -> str:
    values = {name: getattr(rates, name) for name in _LABELS}
    shown = [n for n in _LABELS if n not in _LIKE_OTHERS or values[n] != values[_LIKE_OTHERS[n]]]
    text = "   ".join(f"{_LABELS[name]} {round(values[name] * 1e6, 9):g}" for name in shown)
    return f"{where}: {text}" if where else text


def _by_day(price: ModelPrice) -> datetime | None:
    """An hour at which the standard prices hold."""
    rule = price.entry.get("off_peak_pricing")
    week = (datetime(2024, 1, day, hour, tzinfo=UTC) for day in range(1, 8) for hour in range(24))
    return next((at for at in week if rule and not is_off_peak(rule, at)), None)


def _usage(given: str) -> dict[str, Any]:
    """A usage as JSON, from the command line or from a file."""
    path = Path(given)
    try:
        text = given if given.lstrip().startswith("{") else path.read_text(encoding="utf-8")
        data = json.loads(text)
    except (OSError, ValueError) as error:
        raise UserError(f"--usage: neither JSON nor a file with JSON ({error}).") from None
    if isinstance(data, dict) and isinstance(data.get("usage"), dict):
        data = {"service_tier": data.get("service_tier"), **data["usage"]}  # a whole response
    if not isinstance(data, dict):
        raise UserError('--usage: write a mapping, such as \'{"prompt_tokens": 1000, "completion_tokens": 50}\'.')
    return data
