"""How drawings look: colours that also differ in grey, a marker and a hatch each, and fonts that know Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.suites.kit.drawing import rendered as drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito's palette, ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")
DASHES = ("-", "--", "-.", ":")

_TOP, _BOTTOM, _RIGHT = 0.3, 0.5, 0.15
"""Inches around a panel, for its title, its numbers and its label."""
_MOST_LEFT = 0.5
"""The share of its width that names may take before panels stand below each other."""

_OWN_FONT = Path(__file__).parent / "assets" / "fonts" / "SeedbedCJK.ttf"
"""Chinese and Japanese characters in everyday use, so that drawings look the same on every machine."""
_OWN_NAME = "Seedbed CJK"
_MORE = (
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
"""Fonts of the machine that may know characters beyond those, Korean ones among them."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing ready for a file and for a page."""

    name: str
    title: str
    svg: str
    png: bytes
    note: str = ""
    lead: bool = False
    """Whether it answers what its suite asks: such a one stands on the first screen."""


@lru_cache(maxsize=1)
def _font_added() -> str:
    """The font shipped here, made known to matplotlib; its name."""
    from matplotlib.font_manager import fontManager

    fontManager.addfont(_OWN_FONT)
    return _OWN_NAME


@lru_cache(maxsize=1)
def cjk_font() -> str | None:
    """A font of this machine for rarer characters of Chinese, Japanese and Korean, if it has one of the usual."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return next((name for name in _MORE if name in installed), None)


@contextmanager
def style() -> Iterator[None]:
    """Settings for the drawings made inside."""
    import matplotlib as mpl
    from cycler import cycler

    fonts = ["DejaVu Sans", _font_added(), *([found] if (found := cjk_font()) else [])]
    settings: Any = {
        "font.family": fonts,
        "font.size": 9,
        # For suites that number their colours.
        "axes.prop_cycle": cycler(color=COLOURS),
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


def panels(
    titles: Sequence[str], height: float, width: float = 8.0, columns: int = 2, left: float | None = None
) -> tuple[Drawing, list[Any]]:
    """A drawing with a panel a title, `height` inches each; unused places stay empty.

    `left` is the room in inches for what stands left of a panel. With it the layout is fixed; without, it is found from
    all that is drawn, which takes as long as drawing.
    """
    from matplotlib.figure import Figure as Drawing

    across = min(columns, len(titles))
    if left is not None and left > _MOST_LEFT * width / across:
        across = 1
    down = -(-len(titles) // across)
    drawing = Drawing(figsize=(width, height * down), layout=None if left is not None else "constrained")
    places = None if left is None else _places(left, height, width, across, down)
    axes = list(drawing.subplots(down, across, squeeze=False, gridspec_kw=places).ravel())
    for axis in axes[len(titles) :]:
        axis.remove()
    for axis, title in zip(axes, titles, strict=False):
        axis.set_title(title)
        # A few numbers are enough to read by, and every one is four things to draw.
        axis.locator_params(nbins=6)
    return drawing, axes[: len(titles)]


def inches(texts: Iterable[str]) -> float:
    """The room that the longest of some texts takes at the usual size, with a little air."""
    wide = (sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text) for text in texts)
    return 0.15 + 0.078 * max(wide, default=0)


def rendered(drawing: Drawing, name: str, title: str, note: str = "", *, lead: bool = False) -> Plot:
    """The drawing as SVG text and PNG bytes."""
    svg, png = drawn(drawing)
    return Plot(re.sub(r"[^A-Za-z0-9._-]+", "-", name), title, svg, png, note, lead)


def _places(left: float, height: float, width: float, across: int, down: int) -> dict[str, float]:
    wide = width / across - left - _RIGHT
    high = height - _TOP - _BOTTOM
    return {
        "left": left / width,
        "right": 1 - _RIGHT / width,
        "bottom": _BOTTOM / (height * down),
        "top": 1 - _TOP / (height * down),
        "wspace": (left + _RIGHT) / wide,
        "hspace": (_TOP + _BOTTOM) / high,
    }
