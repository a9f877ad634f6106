"""Figures that a paper prints, as its checks know them."""

from __future__ import annotations

from typing import Any

from seedbed.analysis.addressed import PrintedFigure
from seedbed.analysis.results import Comparison


def verdict(
    word: Any = "better", difference: float | None = 0.1, p: float | None = 0.01, higher_is_better: bool | None = True
) -> PrintedFigure:
    c = Comparison(
        "s",
        "b",
        "m",
        "x",
        "base",
        "f",
        higher_is_better=higher_is_better,
        difference=difference,
        p_holm=p,
        verdict=word,
    )
    return PrintedFigure("word", word=word, comparison=c)
