"""numbers.tex: every figure of a summary as a macro, so that a paper prints what the rows give and nothing else."""

from __future__ import annotations

from seedbed.analysis.addressed import AddressedRow, PrintedFigure, addressed_rows
from seedbed.analysis.results import SIMULATED_NOTE, Summary
from seedbed.report.latex import tex
from seedbed.report.tables import p_value

HEAD = "% Numbers of the sweep "
"""How the file begins; the name of the sweep follows."""
_ABOUT = r"""% Read with \input in the preamble. \sb{BENCHMARK/SYSTEM/METRIC/FIGURE} prints a number,
% \sbsays{ADDRESS}{words} the words; `seedbed verify paper.tex SWEEP` holds both against the stored rows."""
_MACROS = r"""\ifdefined\sbnumber\else
\begingroup\catcode`\@=11
% In formulas \sb is a subscript, and stays one where it is given no address.
\global\let\sb@subscript\sb
\gdef\sb@end{}
\gdef\sb#1{\expandafter\sb@split\detokenize{#1}\sb@end//\sb@stop{#1}}
\gdef\sb@split#1/#2/#3\sb@stop#4{\sb@find{#1/#2}{\sb@rest#3\sb@end\sb@stop}{#4}}
\gdef\sb@rest#1\sb@end#2\sb@stop{#1}
\gdef\sb@find#1#2#3{\ifcsname sb@row@#1\endcsname
  \ifcsname sb@\csname sb@row@#1\endcsname/#2\endcsname\csname sb@\csname sb@row@#1\endcsname/#2\endcsname
  \else\sb@unknown{#3}\fi
  \else\ifmmode\if\sb@short{#2}1\sb@subscript{#3}\else\sb@unknown{#3}\fi\else\sb@unknown{#3}\fi\fi}
\gdef\sb@short#1{\ifcsname sb@short@#1\endcsname1\else0\fi}
\expandafter\gdef\csname sb@short@\endcsname{}
\expandafter\gdef\csname sb@short@/\endcsname{}
\protected\gdef\sb@unknown#1{\errmessage{seedbed: \detokenize{#1} is no number of numbers.tex, or of two of them}}
\protected\gdef\sbsays#1#2{#2}
\gdef\sbrow#1{\edef\sb@row{\detokenize{#1}}\sbname{#1}}
\gdef\sbname#1{\ifcsname sb@row@\detokenize{#1}\endcsname
  \expandafter\ifx\csname sb@row@\detokenize{#1}\endcsname\sb@row\else
  \expandafter\let\csname sb@row@\detokenize{#1}\endcsname\sb@end\fi
  \else\expandafter\let\csname sb@row@\detokenize{#1}\endcsname\sb@row\fi}
\gdef\sbnumber#1#2{\expandafter\def\csname sb@\sb@row/\detokenize{#1}\endcsname{#2}}
\endgroup\fi"""
"""\\sb expands without a trace, so that it works in captions, headings, \\num and comparisons. A short name that two
files give to different rows is nobody's."""


def to_numbers(summary: Summary) -> str:
    """A block a row: its names, then its figures. What is undefined has no macro."""
    head = [f"{HEAD}{summary.sweep}.", _ABOUT, *([f"% {SIMULATED_NOTE}"] if summary.simulated else []), _MACROS]
    return "\n".join([*head, *(_block(row) for row in addressed_rows(summary))]) + "\n"


def _block(row: AddressedRow) -> str:
    first, *others = row.names
    return "\n".join(
        [
            rf"\sbrow{{{first}}}",
            *(rf"\sbname{{{name}}}" for name in others),
            *(rf"\sbnumber{{{name}}}{{{number_text(f)}}}" for name, f in row.figures.items() if f.known),
        ]
    )


def number_text(figure: PrintedFigure) -> str:
    """A known figure as LaTeX, in text and in formulas alike."""
    match figure.kind:
        case "word":
            return tex(figure.word)
        case "p":
            return p_value(figure.numbers[0]).replace("<", r"\ensuremath{<}")
        case "p_text":
            told = p_value(figure.numbers[0])
            return rf"\ensuremath{{p {'<' if told.startswith('<') else '='} {told.removeprefix('<')}}}"
        case _:
            sign = "+" if figure.kind == "signed" else ""
            texts = [f"{value:{sign}.{figure.digits}f}" for value in figure.numbers]
            return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
