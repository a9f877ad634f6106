"""Drawings of matplotlib as SVG text and PNG bytes, the same bytes for the same drawing."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_PNG_DPI = 110
_AT_NIGHT = {
    "#ffffff": "#14171b",
    "#000000": "#e6e9ed",
    "#dddddd": "#363d46",
    "#eeeeee": "#23282f",
    "#0072b2": "#58b0ec",
    "#d55e00": "#ff8a4c",
    "#009e73": "#3ecfa0",
    "#9ecae1": "#2f6585",
    "#7f7f7f": "#a7adb5",
    "#888888": "#a7adb5",
}
"""What a colour becomes where the reader's eyes are used to the dark; those not named are read on both grounds."""
THEMED = "prefers-color-scheme"
"""Stands in every drawing that looks right on a dark page."""


def rendered(drawing: Drawing) -> tuple[str, bytes]:
    """SVG and PNG. Each canvas draws once; `savefig` would do so twice, the first time for the layout alone."""
    return _svg(drawing), _png(drawing)


def _svg(drawing: Drawing) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    FigureCanvasSVG(drawing).print_svg(text, metadata={"Date": None, "Creator": "Seedbed"})
    svg = text.getvalue()
    return themed(svg[svg.index("<svg") :])


def themed(svg: str) -> str:
    """The drawing with other colours for a dark page. What is drawn keeps its own, so that programs that know nothing
    of themes show it as it was; an image inside a page follows the page's `color-scheme`."""
    rules = "".join(
        f'[style*="{what}: {day}"]{{{what}:{night} !important}}'
        for day, night in _AT_NIGHT.items()
        for what in ("fill", "stroke")
        if f"{what}: {day}" in svg
    )
    # White letters stand on a dark patch of the drawing and stay white.
    rules += 'text{fill:#e6e9ed}text[style*="fill: #ffffff"]{fill:#ffffff !important}'
    style = f"<style>@media ({THEMED}: dark){{{rules}}}</style>"
    at = svg.index(">") + 1
    return f"{svg[:at]}\n {style}{svg[at:]}"


def _png(drawing: Drawing) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # The layout is found; finding it again would take as long as drawing.
    drawing.set_layout_engine("none")
    drawing.dpi = _PNG_DPI
    image = io.BytesIO()
    FigureCanvasAgg(drawing).print_png(image, metadata={"Software": "Seedbed"})
    return image.getvalue()
