"""How drawings look: colours that also differ in grey, a marker and a hatch each, and fonts that know Chinese."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito's palette, ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")
DASHES = ("-", "--", "-.", ":")

_CJK = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Droid Sans Fallback",
    "Arial Unicode MS",
)
NO_CJK_FONT = (
    "No font with Chinese characters is installed here: PNG drawings may show boxes in their place. "
    "SVG drawings use the fonts of the reader's machine. Install fonts-noto-cjk or fonts-wqy-microhei to mend this."
)


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing ready for a file and for a page."""

    name: str
    title: str
    svg: str
    png: bytes
    note: str = ""


@lru_cache(maxsize=1)
def cjk_font() -> str | None:
    """A font with Chinese characters, if this machine has one of the usual."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return next((name for name in _CJK if name in installed), None)


@contextmanager
def style() -> Iterator[None]:
    """Settings for the drawings made inside."""
    import matplotlib as mpl

    fonts = ["DejaVu Sans", *([found] if (found := cjk_font()) else [])]
    settings: Any = {
        "font.family": fonts,
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 9,
        "axes.titlelocation": "left",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "legend.frameon": False,
        "svg.fonttype": "none",
        # With it, equal drawings have equal bytes.
        "svg.hashsalt": "seedbed",
        "hatch.linewidth": 0.6,
    }
    with mpl.rc_context(settings):
        yield


def panels(titles: Sequence[str], height: float, width: float = 8.0, columns: int = 2) -> tuple[Drawing, list[Any]]:
    """A drawing with a panel a title, `height` inches each; unused places stay empty."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    across = min(columns, len(titles))
    down = -(-len(titles) // across)
    drawing = Drawing(figsize=(width, height * down), layout="constrained")
    FigureCanvasAgg(drawing)
    axes = list(drawing.subplots(down, across, squeeze=False).ravel())
    for axis in axes[len(titles) :]:
        axis.remove()
    for axis, title in zip(axes, titles, strict=False):
        axis.set_title(title)
    return drawing, axes[: len(titles)]


def rendered(drawing: Drawing, name: str, title: str, note: str = "") -> Plot:
    """The drawing as SVG text and PNG bytes, the same bytes for the same drawing."""
    text, image = io.StringIO(), io.BytesIO()
    drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": "Seedbed"})
    # The layout is found; finding it again would take as long as drawing.
    drawing.set_layout_engine("none")
    drawing.savefig(image, format="png", dpi=110, metadata={"Software": "Seedbed"})
    svg = text.getvalue()
    return Plot(re.sub(r"[^A-Za-z0-9._-]+", "-", name), title, svg[svg.index("<svg") :], image.getvalue(), note)
