"""The tables of a summary for a paper: booktabs, cut into blocks of columns that fit the page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from seedbed.analysis.results import SIMULATED_NOTE, Summary
from seedbed.report.tables import TextCell, TextTable, suite_table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "†": r"$^{\dagger}$",
    "·": r"$\cdot$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "→": r"$\to$",
    "∞": r"$\infty$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "’": "'",
    "“": "``",
    "”": "''",
}
_GREEK = re.compile(
    r"GREEK (SMALL|CAPITAL) LETTER "
    r"(ALPHA|BETA|GAMMA|DELTA|EPSILON|ETA|THETA|KAPPA|LAMDA|MU|PI|RHO|SIGMA|TAU|PHI|CHI|PSI|OMEGA)"
)
_CAPITALS = ("Gamma", "Delta", "Theta", "Lambda", "Pi", "Sigma", "Phi", "Psi", "Omega")
_OTHER = re.compile(r"[^\x00-\u017f]+")

_WIDTH = 340.0
"""Points: the text of a one-column article. A two-column paper has them in `table*`."""
_CHAR, _DIGIT, _BOLD, _SMALL, _GAP = 4.0, 3.7, 4.3, 3.1, 6.0
"""Points that a character of a name, of a figure, of one in bold, of a subscript or in \\tiny, and the space between
columns take in \\scriptsize."""
_SETTINGS = r"\centering\scriptsize\setlength{\tabcolsep}{3pt}\renewcommand{\arraystretch}{1.15}"
_LINES = 40
"""Lines of tables in one float; more would not fit on a page with the caption."""

_HEAD = r"""% Read with \input; needs \usepackage{booktabs}. In a two-column paper write table* for table."""
_OTHER_HEAD = r"""% Text beyond Latin letters needs XeLaTeX or LuaLaTeX with a font that has it, or pdfLaTeX with
% \usepackage{CJKutf8}.
\ifdefined\seedbedtext\else\protected\def\seedbedtext#1{\ifdefined\CJK\begin{CJK}{UTF8}{gbsn}#1\end{CJK}%
\else\ifdefined\Umathchar#1\else[load CJKutf8]\fi\fi}\fi"""


@dataclass(frozen=True)
class _Block:
    """Some columns of a table, and some of its rows, that go onto the page side by side."""

    columns: Sequence[int]
    rows: Sequence[Sequence[TextCell]]


def to_latex(summary: Summary) -> str:
    """A booktabs table a suite; best in bold, a dagger for significance."""
    suites = dict.fromkeys(row.suite for row in summary.rows)
    return latex_file(
        [latex_table(suite_table(summary, s), f"tab:{summary.sweep}-{s}", summary.simulated) for s in suites],
        [SIMULATED_NOTE] if summary.simulated else [],
    )


def latex_file(tables: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Tables with the definitions they need."""
    head = [_HEAD, *(f"% {comment}" for comment in comments)]
    if any(r"\seedbedtext{" in table for table in tables):
        head.append(_OTHER_HEAD)
    return "\n".join([*head, *tables]) + "\n"


def latex_table(table: TextTable, label: str, simulated: bool) -> str:
    """The table as one float or, where it is long, as several. Names that are the same in all rows move to the caption;
    columns that do not fit side by side follow below, with the names again."""
    fixed = _fixed(table)
    names = [place for place in range(table.n_names) if place not in fixed]
    said = "; ".join(f"{table.columns[place]} {table.rows[0][place].text}" for place in fixed)
    notes = [*table.notes, *([SIMULATED_NOTE] if simulated else [])]
    caption = " ".join([f"{table.title}{f': {said}' if said else ''}.", *notes])
    made: list[str] = []
    for number, own in enumerate(_floats(list(_blocks(table, names)))):
        text = tex(caption if number == 0 else f"{table.title}, continued.")
        mark = [rf"\label{{{re.sub(r'[^A-Za-z0-9:.-]', '-', label)}}}"] if number == 0 else []
        bodies = "\n\\par\\medskip\n".join(_tabular(table, block, len(names)) for block in own)
        opening = [r"\begin{table}[tbp]", _SETTINGS, rf"\caption{{{text}}}\par\smallskip"]
        # LaTeX gives up when too many floats wait for a page.
        closing = [r"\end{table}", *([r"\clearpage"] if number else [])]
        made.append("\n".join([*opening, *mark, bodies, *closing]))
    return "\n".join(made)


def tex(text: str) -> str:
    """A text with everything escaped that LaTeX would take as its own."""
    escaped = "".join(_SPECIAL.get(char) or _greek(char) or char for char in text.replace("\n", " "))
    return _OTHER.sub(lambda found: rf"\seedbedtext{{{found[0]}}}", escaped)


def _greek(char: str) -> str | None:
    found = _GREEK.fullmatch(unicodedata.name(char, "")) if ord(char) > 127 else None
    if found is None:
        return None
    name = found[2].lower().replace("lamda", "lambda")
    if found[1] == "SMALL":
        return rf"$\{name}$"
    # The other capitals look like Latin ones, and LaTeX has none of their own.
    return rf"$\{name.capitalize()}$" if name.capitalize() in _CAPITALS else None


def _fixed(table: TextTable) -> list[int]:
    """Name columns that tell no rows apart; one that does is always left."""
    if len(table.rows) < 2:
        return []
    same = [place for place in range(table.n_names) if len({row[place].text for row in table.rows}) == 1]
    return same if len(same) < table.n_names else same[:-1]


def _blocks(table: TextTable, names: Sequence[int]) -> Iterator[_Block]:
    at_once = max(1, _LINES // _lines_a_row(table.rows))
    rows = [table.rows[at : at + at_once] for at in range(0, len(table.rows), at_once)] or [[]]
    for columns in _beside(table, names):
        for own in rows:
            yield _Block([*names, *columns], own)


def _beside(table: TextTable, names: Sequence[int]) -> list[list[int]]:
    """The columns of figures as parts that fit beside the names: all in one, or metrics and counts apart."""
    first_count = len(table.columns) - table.n_counts
    metrics, counts = list(range(table.n_names, first_count)), list(range(first_count, len(table.columns)))
    widths = {place: _width(table, place) for place in [*names, *metrics, *counts]}
    room = _WIDTH - sum(widths[place] for place in names)
    whole = _cut([*metrics, *counts], widths, room)
    return whole if len(whole) == 1 else [*_evenly(metrics, widths, room), *_evenly(counts, widths, room)]


def _evenly(columns: Sequence[int], widths: Mapping[int, float], room: float) -> list[list[int]]:
    """As few parts as it takes; the narrowest room that takes no more leaves no lonely column at the end."""
    parts = _cut(columns, widths, room)
    narrow = sum(widths[place] for place in columns) / len(parts)
    while narrow < room:
        if len(even := _cut(columns, widths, narrow)) == len(parts):
            return even
        narrow += _GAP
    return parts


def _cut(columns: Sequence[int], widths: Mapping[int, float], room: float) -> list[list[int]]:
    parts: list[list[int]] = []
    used = room
    for place in columns:
        if used + widths[place] > room:
            parts.append([])
            used = 0.0
        parts[-1].append(place)
        used += widths[place]
    return parts


def _width(table: TextTable, place: int) -> float:
    cells = [_cell_width(row[place]) for row in table.rows]
    return _GAP + max([len(table.columns[place]) * _CHAR, *cells])


def _cell_width(cell: TextCell) -> float:
    centre, mark, spread = cell.text.partition(" ± ")
    below = _SMALL * max(len(spread) + 2 if spread else 0, 2 if cell.significant else 0)
    figure = len(centre) * (_BOLD if cell.best else _DIGIT if mark else _CHAR) + below
    return max([figure, *(_SMALL * len(text) for text in cell.beside)])


def _lines_a_row(rows: Sequence[Sequence[TextCell]]) -> int:
    return 1 + max((_depth(row) for row in rows), default=0)


def _height(block: _Block) -> int:
    return len(block.rows) * _lines_a_row([[row[column] for column in block.columns] for row in block.rows])


def _floats(blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    own: list[_Block] = []
    for block in blocks:
        if own and sum(_height(b) + 3 for b in own) + _height(block) > _LINES:
            yield own
            own = []
        own.append(block)
    yield own


def _tabular(table: TextTable, block: _Block, n_names: int) -> str:
    lines: list[str] = []
    for place, row in enumerate(block.rows):
        if place and row[0].text != block.rows[place - 1][0].text:
            lines.append(r"\addlinespace")
        lines.append(" & ".join(_shown(row[column]) for column in block.columns) + r" \\")
        lines += [
            " & ".join(_below(row[column], number) for column in block.columns) + r" \\"
            for number in range(_depth(row[column] for column in block.columns))
        ]
    letters = "l" * n_names + "r" * (len(block.columns) - n_names)
    return "\n".join(
        [
            rf"\begin{{tabular*}}{{\linewidth}}{{@{{\extracolsep{{\fill}}}}{letters}@{{}}}}",
            r"\toprule",
            " & ".join(tex(table.columns[column]) for column in block.columns) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular*}",
        ]
    )


def _depth(cells: Iterable[TextCell]) -> int:
    """How many lines of small print a row has below it."""
    return max((len(cell.beside) for cell in cells), default=0)


def _below(cell: TextCell, number: int) -> str:
    return rf"\tiny {tex(cell.beside[number])}" if number < len(cell.beside) else ""


def _shown(cell: TextCell) -> str:
    """The spread over seeds as a subscript, the dagger above it."""
    centre, _, spread = cell.text.partition(" ± ")
    text = rf"\textbf{{{tex(centre)}}}" if cell.best else tex(centre)
    marks = (r"^{\dagger}" if cell.significant else "") + (rf"_{{\pm {tex(spread)}}}" if spread else "")
    return f"{text}${marks}$" if marks else text
