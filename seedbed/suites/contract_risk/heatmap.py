"""A confusion matrix as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seedbed.suite import Figure
from seedbed.suites.contract_risk.levels import ENGLISH
from seedbed.suites.kit.drawing import rendered

_GOLD = tuple(ENGLISH.values())
_PREDICTED = (*_GOLD, "invalid")


def heat_map(title: str, name: str, matrix: Sequence[Sequence[int]], note: str) -> Figure:
    """Counts and, as colour, their share of the gold level, so that rare levels can be read too."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 10, "axes.grid": False}):
        svg, png = rendered(draw(name, matrix))
    return Figure(title, svg, note, png)


def draw(name: str, matrix: Sequence[Sequence[int]]) -> Any:
    """The drawing itself, in a fixed layout. It is made without pyplot, which keeps drawings in a global list."""
    from matplotlib.figure import Figure as Drawing

    shares = [[count / (sum(row) or 1) for count in row] for row in matrix]
    figure = Drawing(figsize=(4.8, 3.3))
    # Left of it there is room for the axis label and for counts of five digits behind the names of the levels.
    axes: Any = figure.add_axes((0.32, 0.16, 0.5, 0.74))
    image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(4), _PREDICTED)
    axes.set_yticks(range(3), [f"{level} ({sum(row)})" for level, row in zip(_GOLD, matrix, strict=True)])
    axes.set(xlabel="predicted", ylabel="gold (cases)", title=name)
    axes.axvline(2.5, color="white", linewidth=3)
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            dark = shares[i][j] > 0.55
            axes.text(j, i, str(count), ha="center", va="center", color="white" if dark else "#111111")
    figure.colorbar(image, cax=figure.add_axes((0.85, 0.16, 0.03, 0.74)), label="share of gold level")
    return figure
