"""Drawings of matplotlib as SVG text and PNG bytes, the same bytes for the same drawing."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_PNG_DPI = 110


def rendered(drawing: Drawing) -> tuple[str, bytes]:
    """SVG and PNG. Each canvas draws once; `savefig` would do so twice, the first time for the layout alone."""
    return _svg(drawing), _png(drawing)


def _svg(drawing: Drawing) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    FigureCanvasSVG(drawing).print_svg(text, metadata={"Date": None, "Creator": "Seedbed"})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def _png(drawing: Drawing) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # The layout is found; finding it again would take as long as drawing.
    drawing.set_layout_engine("none")
    drawing.dpi = _PNG_DPI
    image = io.BytesIO()
    FigureCanvasAgg(drawing).print_png(image, metadata={"Software": "Seedbed"})
    return image.getvalue()
