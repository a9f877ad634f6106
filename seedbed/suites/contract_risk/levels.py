"""The three risk levels, and what may stand for them in a file."""

from __future__ import annotations

from typing import Literal

Level = Literal["高", "中", "低"]

LEVELS: tuple[Level, ...] = ("高", "中", "低")
"""In the order of every matrix: rows are gold, columns predicted."""
ENGLISH: dict[Level, str] = {"高": "High", "中": "Medium", "低": "Low"}

WEIGHTS: tuple[tuple[float, ...], ...] = ((1.0, 0.4, 0.0), (0.8, 1.0, 0.4), (0.5, 0.8, 1.0))
"""What a verdict is worth by gold and predicted level: a missed risk costs more than a false alarm."""

_SPELLINGS: dict[str, Level] = {
    **dict.fromkeys(("高", "高风险", "high", "high_positive"), "高"),
    **dict.fromkeys(("中", "中风险", "中等", "medium", "medium_positive"), "中"),
    **dict.fromkeys(("低", "低风险", "无", "无风险", "low", "none", "negative"), "低"),
}


def level_of(value: object) -> Level | None:
    """The level a file's word stands for; None for a word that names none."""
    return _SPELLINGS.get(value.strip().lower()) if isinstance(value, str) else None


def place(level: Level) -> int:
    return LEVELS.index(level)


def highest(levels: list[Level]) -> Level | None:
    return min(levels, key=place, default=None)
