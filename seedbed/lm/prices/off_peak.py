"""Hours at which a provider charges less."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def is_off_peak(rule: Mapping[str, Any], at: datetime) -> bool:
    """Whether a moment lies in one of the windows of a model's `off_peak_pricing`, which are in UTC."""
    now = at.astimezone(UTC)
    if _within(rule.get("hours_utc"), now.time()):
        return True
    day = now.astimezone(_calendar(rule.get("weekday_timezone"))).isoweekday()
    return any(
        ("weekdays" not in window or day in window["weekdays"]) and _within(window.get("hours_utc"), now.time())
        for window in rule.get("windows") or ()
    )


def _calendar(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, ZoneInfoNotFoundError):
        return UTC


def _within(hours: str | list[str] | None, now: time) -> bool:
    """`16:30-00:30`, or several; a window may pass midnight, and one whose ends are equal is the whole day."""
    for window in [hours] if isinstance(hours, str) else hours or []:
        start, end = (time.fromisoformat(part.strip()) for part in window.split("-"))
        if (start <= now < end) if start < end else (now >= start or now < end):
            return True
    return False
