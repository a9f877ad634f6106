"""The summary a sweep prints for this suite, a line a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COLUMNS = (
    ("EM", "em", 3),
    ("F1", "f1", 3),
    ("RLC", "rlc", 3),
    ("Cost", "cost", 1),
    ("CNBE", "cnbe", 5),
    ("Sem", "semantic_score", 3),
)


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """`lbrag    | EM=0.000±0.000 | F1=0.289±0.341 | ...`; what is undefined is shown as "-", never as 0."""
    width = max(8, *(len(label) for label in metrics)) if metrics else 8
    return "\n".join(
        " | ".join([f"{label:<{width}}", *(_cell(name, own, key, digits) for name, key, digits in _COLUMNS)])
        for label, own in metrics.items()
    )


def _cell(name: str, metrics: Mapping[str, Any], key: str, digits: int) -> str:
    mean, std = metrics.get(key), metrics.get(f"{key}_std")
    if mean is None:
        return f"{name}=-"
    return f"{name}={mean:.{digits}f}±{std:.{digits}f}"
