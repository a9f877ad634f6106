"""What a difference is called, and how small one must be to be called none."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.analysis.verdict import margin_of, verdict


def said(**fields: Any) -> str:
    given: dict[str, Any] = {
        "difference": 0.1,
        "interval": (0.05, 0.15),
        "p": 0.01,
        "clusters": 100,
        "margin": 0.05,
        "higher_is_better": True,
    }
    return verdict(**{**given, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "better"),
        ({"higher_is_better": False}, "worse"),
        ({"higher_is_better": None}, "higher"),
        ({"p": 0.2, "interval": (-0.02, 0.04), "difference": 0.01}, "no difference"),
        ({"p": 0.2, "interval": (-0.02, 0.22)}, "too small to tell"),
        ({"p": None}, "too small to tell"),
        ({"p": 1.0, "difference": 0.0, "interval": (0.0, 0.0), "clusters": 12}, "too small to tell"),
        ({"p": 1.0, "difference": 0.0, "interval": (0.0, 0.0), "clusters": 60}, "no difference"),
    ],
)
def test_verdicts(fields: dict[str, Any], expected: str) -> None:
    assert said(**fields) == expected


def test_the_margin_of_shares_is_absolute_and_of_amounts_relative() -> None:
    assert margin_of((0.0, 1.0), 0.0, 0.05) == 0.05
    assert margin_of((1.0, 5.0), 3.0, 0.05) == pytest.approx(0.2)
    assert margin_of(None, 100.0, 0.05) == pytest.approx(5.0)
