"""The formulas. They take verdicts and know nothing of models."""

from __future__ import annotations

import math
from collections.abc import Sequence


def average_precision(verdicts: Sequence[int | bool]) -> float:
    """Mean of the precision at each relevant place: [0, 1] is 0.5, [1, 0, 1] is 0.8333; 0 if nothing is relevant."""
    hits = 0
    precisions: list[float] = []
    for place, relevant in enumerate(verdicts, start=1):
        if relevant:
            hits += 1
            precisions.append(hits / place)
    return math.fsum(precisions) / hits if hits else 0.0


def share(verdicts: Sequence[bool]) -> float | None:
    """The share of verdicts that hold; None for none, since nothing was judged."""
    return sum(verdicts) / len(verdicts) if verdicts else None


def statement_f1(true_positives: int, false_positives: int, false_negatives: int) -> float | None:
    """F1 over statements; None where neither side states anything."""
    total = 2 * true_positives + false_positives + false_negatives
    return 2 * true_positives / total if total else None


def weighted(factual: float, similarity: float | None, weights: tuple[float, float]) -> float:
    """Statement F1 and similarity by their weights. Without a similarity its weight must be 0."""
    if similarity is None:
        return factual
    return (weights[0] * factual + weights[1] * similarity) / (weights[0] + weights[1])
