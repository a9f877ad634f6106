"""The summary a sweep prints for this suite, a line a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COLUMNS = (
    ("M1", "key_coverage", 3),
    ("strict", "strict_key_hit_rate", 3),
    ("contra", "contradiction_rate", 3),
    ("M2", "profile_score", 3),
    ("M3", "risk_coverage", 3),
    ("strict", "strict_risk_coverage_rate", 3),
    ("M4", "compliance_label_acc", 3),
    ("severe", "severe_violation_rate", 3),
    ("M5", "rubric_hit_rate", 3),
    ("score", "judge_score_mean", 2),
)


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """`memory_agent | M1=0.912 strict=... | turns 114/0 failed`; figures that leave failed turns out carry a `*`."""
    width = max((len(label) for label in metrics), default=8)
    return "\n".join(
        " | ".join([f"{label:<{width}}", " ".join(_cell(own, *column) for column in COLUMNS), _turns(own)])
        for label, own in metrics.items()
    )


def _cell(own: Mapping[str, Any], name: str, key: str, digits: int) -> str:
    value = own.get(key)
    mark = "*" if (own.get("availability") or 1.0) < 1 else ""
    return f"{name}=-" if value is None else f"{name}={value:.{digits}f}{mark}"


def _turns(own: Mapping[str, Any]) -> str:
    failed = own.get("failed_count_m4") or 0
    return f"turns {(own.get('eligible_count_m4') or 0) + failed}, {failed} failed"
