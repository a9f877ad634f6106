"""A confusion matrix as a drawing."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from seedbed.suites.contract_risk.levels import ENGLISH

_GOLD = tuple(ENGLISH.values())
_PREDICTED = (*_GOLD, "invalid")


def heat_map(title: str, matrix: Sequence[Sequence[int]]) -> str:
    """SVG text: counts and, as colour, their share of the gold level, so that rare levels can be read too."""
    text = io.StringIO()
    draw(title, matrix).savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def draw(title: str, matrix: Sequence[Sequence[int]]) -> Any:
    """The figure itself. It is drawn without pyplot, which keeps figures in a global list."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shares = [[count / (sum(row) or 1) for count in row] for row in matrix]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10, "axes.grid": False}):
        figure = Figure(figsize=(4.4, 3.3), layout="constrained")
        FigureCanvasAgg(figure)
        axes: Any = figure.add_subplot()
        image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.set_xticks(range(4), _PREDICTED)
        axes.set_yticks(range(3), [f"{name} ({sum(row)})" for name, row in zip(_GOLD, matrix, strict=True)])
        axes.set(xlabel="predicted", ylabel="gold (cases)", title=title)
        axes.axvline(2.5, color="white", linewidth=3)
        for i, row in enumerate(matrix):
            for j, count in enumerate(row):
                dark = shares[i][j] > 0.55
                axes.text(j, i, str(count), ha="center", va="center", color="white" if dark else "black")
        figure.colorbar(image, ax=axes, label="share of gold level")
    return figure
