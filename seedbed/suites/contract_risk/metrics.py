"""Figures of a confusion matrix over the three levels. Rows are gold, columns predicted, both 高 中 低."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seedbed.analysis.intervals import wilson
from seedbed.suites.contract_risk.levels import ENGLISH, LEVELS, WEIGHTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Matrix = Sequence[Sequence[int]]

INVALID = 3
"""The column of what did not parse: a miss for its gold class, and no class of its own."""
_KEYS = (
    *(
        "accuracy",
        "weighted_accuracy",
        "kappa_linear",
        "kappa_quadratic",
        "macro_precision",
        "macro_recall",
        "macro_f1",
    ),
    *("high_risk_f2", "class_precision", "class_recall", "class_f1", "accuracy_wilson95"),
    *("high_to_medium_rate", "high_to_low_rate"),
)


def risk_level_metrics(confusion: Matrix, invalid_by_gold: Sequence[int] = (0, 0, 0)) -> dict[str, Any]:
    """All figures of a matrix; those of no case at all are None. Invalid outputs count in every total, scored 0."""
    cells = [[*row, missed] for row, missed in zip(confusion, invalid_by_gold, strict=True)]
    if len(cells) != 3 or any(len(row) != 4 for row in cells):
        raise ValueError("a confusion matrix has three rows and three columns, and one invalid count a row")
    parsed, total = sum(map(sum, confusion)), sum(map(sum, cells))
    if not total:
        return {"total": 0, "n_parsed": 0, **dict.fromkeys(_KEYS)}
    right = sum(confusion[i][i] for i in range(3))
    interval = wilson(right, total)
    assert interval is not None
    return {
        "total": total,
        "n_parsed": parsed,
        "accuracy": right / total,
        "weighted_accuracy": _weighted(confusion) / total,
        "kappa_linear": _kappa(confusion, "linear"),
        "kappa_quadratic": _kappa(confusion, "quadratic"),
        **_by_class(cells),
        "accuracy_wilson95": [interval.low, interval.high],
        "high_to_medium_rate": _share(cells[0][1], sum(cells[0])),
        "high_to_low_rate": _share(cells[0][2], sum(cells[0])),
    }


def quick_levels(confusion: Matrix, invalid_by_gold: Sequence[int] = (0, 0, 0)) -> dict[str, Any]:
    """`risk_level_metrics` without scikit-learn, for who asks hundreds of times: the figures of `quick_figures`, the
    accuracy and the counts; all others are None."""
    counts = [count for row, missed in zip(confusion, invalid_by_gold, strict=True) for count in (*row, missed)]
    total, right = sum(counts), sum(confusion[i][i] for i in range(3))
    return {
        "total": total,
        "n_parsed": total - sum(invalid_by_gold),
        **dict.fromkeys(_KEYS),
        "accuracy": _share(right, total),
        **quick_figures(counts),
    }


def quick_figures(counts: Sequence[int]) -> dict[str, float | None]:
    """The figures that are bootstrapped, from the twelve counts of a matrix with its invalid column, row by row.

    The same numbers as `risk_level_metrics`, which asks scikit-learn.
    """
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        found = resampled_figures(np.array([counts], dtype=np.float64))
    return {name: None if math.isnan(value := float(values[0])) else value for name, values in found.items()}


def resampled_figures(counts: Floats) -> dict[str, Floats]:
    """`quick_figures` of many matrices at once, a row each; nan where undefined."""
    import numpy as np

    cells = counts.reshape(-1, 3, 4)
    parsed = cells[:, :, :INVALID]
    total, gold, called = counts.sum(axis=1), cells.sum(axis=2), parsed.sum(axis=1)
    right = np.diagonal(parsed, axis1=1, axis2=2)
    both = called + gold
    f1 = np.where(both > 0, 2 * right / both, 0.0)
    beyond = 4 * gold[:, 0] + called[:, 0]
    f2 = np.where(beyond > 0, 5 * right[:, 0] / beyond, 0.0)
    figures = {
        "weighted_accuracy": np.einsum("nij,ij->n", parsed, np.array(WEIGHTS)) / total,
        "kappa_linear": _linear_kappa(parsed, called),
        "high_risk_f2": f2,
        "macro_f1": f1.sum(axis=1) / 3,
    }
    return {name: np.where(total > 0, values, np.nan) for name, values in figures.items()}


def _linear_kappa(parsed: Floats, called: Floats) -> Floats:
    import numpy as np

    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(np.float64)
    observed = np.einsum("nij,ij->n", parsed, apart)
    expected = np.einsum("ni,ij,nj->n", parsed.sum(axis=2), apart, called)
    return np.where(expected > 0, 1 - observed * called.sum(axis=1) / expected, np.nan)


def _weighted(confusion: Matrix) -> float:
    return math.fsum(WEIGHTS[i][j] * confusion[i][j] for i in range(3) for j in range(3))


def _kappa(confusion: Matrix, weights: str) -> float | None:
    """Over parsed pairs; None where it is 0/0, as when there are none or all are of one level on both sides."""
    from sklearn.metrics import cohen_kappa_score

    gold, predicted, counts = _unrolled(confusion)
    if not gold:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(cohen_kappa_score(gold, predicted, labels=[0, 1, 2], weights=weights, sample_weight=counts))
    return None if math.isnan(value) else value


def _by_class(cells: Matrix) -> dict[str, Any]:
    from sklearn.metrics import fbeta_score, precision_recall_fscore_support

    gold, predicted, counts = _unrolled(cells)
    chosen: dict[str, Any] = {"labels": [0, 1, 2], "sample_weight": counts, "zero_division": 0.0}
    figures: Any = precision_recall_fscore_support(gold, predicted, **chosen)
    precision, recall, f1, _ = figures
    per_class: Any = {**chosen, "average": None}
    f2: Any = fbeta_score(gold, predicted, beta=2.0, **per_class)
    return {
        "macro_precision": float(sum(precision)) / 3,
        "macro_recall": float(sum(recall)) / 3,
        "macro_f1": float(sum(f1)) / 3,
        "high_risk_f2": float(f2[0]),
        "class_precision": _named(precision),
        "class_recall": _named(recall),
        "class_f1": _named(f1),
    }


def _unrolled(cells: Matrix) -> tuple[list[int], list[int], list[int]]:
    """The matrix as weighted pairs: gold, predicted, how often."""
    pairs = [(i, j, count) for i, row in enumerate(cells) for j, count in enumerate(row) if count]
    return [p[0] for p in pairs], [p[1] for p in pairs], [p[2] for p in pairs]


def _named(values: Any) -> dict[str, float]:
    return {ENGLISH[level]: float(value) for level, value in zip(LEVELS, values, strict=True)}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
