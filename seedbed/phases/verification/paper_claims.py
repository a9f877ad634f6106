"""Whether words and numbers of a paper agree with a figure: at the digits that are printed, and by its verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.analysis.addressed import PrintedFigure
from seedbed.analysis.results import Comparison
from seedbed.report.tables import p_value

NUMBER = r"(?<![A-Za-z0-9_.])(?:[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|[-+]?\.\d+(?:e[-+]?\d+)?)"
"""Not what is part of a name, as the 1 of F1."""
_PRINTED = re.compile(
    rf"(?P<sign><=|>=|[<>=±])?\s*(?P<number>{NUMBER})\s*(?P<unit>%|percent\w*|per cent|points?|pp\b)?", re.I
)
_NOT = r"(?:not|no|non|n't|never|without|nor)\W+(?:\w+\W+)?"
NOT_SIGNIFICANT = rf"{_NOT}significan\w*|insignifican\w*|\bn\.\s?s\."
SIGNIFICANT = r"significan\w*"
_EQUAL = r"no difference|equivalen\w*|on par|indistinguishab\w*|same as"
_OPEN = r"too small to tell|inconclusive|undecided|cannot (?:be )?(?:tell|told)|too many missing|no verdict"
_DECIDED = ("better", "worse", "higher", "lower")
_UNDECIDED = ("too small to tell", "too many missing", "no verdict")
BETTER = r"better|improv\w*|outperform\w*|beats?|superior|gain\w*|win\w*"
WORSE = r"worse\w*|degrad\w*|underperform\w*|inferior|los(?:es|t|s|ses|ing)|regress\w*"
HIGHER = r"higher|above|more|greater|larger|increas\w*|rais\w*|ris(?:es|ing|en)|rose|exceed\w*|grow\w*|grew"
LOWER = r"lower\w*|below|less|fewer|smaller|decreas\w*|drop\w*|fall\w*|fell|reduc\w*|declin\w*"
CLAIM_WORDS = rf"(?:{NOT_SIGNIFICANT}|{SIGNIFICANT}|{_EQUAL}|{BETTER}|{WORSE}|{HIGHER}|{LOWER})"
"""What a sentence may say otherwise and still be the same sentence, said wrongly."""

_PLAIN: Sequence[tuple[str, str]] = (
    (r"\\(?:num|textbf|textit|emph|mathbf|mathrm|text|ensuremath|underline)\s*\{([^{}]*)\}", r"\1"),
    (r"\{,\}|\\,(?=\d{3})", ","),
    (r"\\times\s*10\^\{?\s*([-+−]?\d+)\s*\}?", r"e\1"),
    (r"(?<=\d)\s+(?=e[-+−]?\d)", ""),
    (r"\\pm\b", "±"),
    (r"\\(?:leq?|leqslant)\b|≤", "<="),
    (r"\\(?:geq?|geqslant)\b|≥", ">="),
    (r"\\lt\b", "<"),
    (r"\\gt\b", ">"),
    (r"−|--(?=\d)", "-"),
    (r"\\%", "%"),
    (r"\\[,;:! ]|~|\\quad\b", " "),
    (r"[${}]", ""),
    (r"(?<=[-+])\s+(?=[\d.])", ""),
)


@dataclass(frozen=True, slots=True)
class _Number:
    value: float
    step: float
    """Of its last digit."""
    sign: str
    percent: bool
    signed: bool
    text: str


def disagreement(text: str, figure: PrintedFigure) -> str | None:
    """What is wrong with a text about a figure, or None. Numbers must be the figure's, rounded to the digits printed;
    words must follow from the test against the baseline."""
    plain = plain_text(text)
    if not figure.known:
        return f"says {_short(plain)}, and the figure is undefined"
    if figure.kind == "word":
        return _of_words(plain, figure)
    found = _numbers(plain)
    if not found:
        return f"says {_short(plain)}, which is no number; the stored rows give {shown(figure)}"
    given = figure.numbers
    if len(found) == len(given) + 1 and len(given) == 1 and found[1].sign == "±" and figure.spread is not None:
        given = (*given, figure.spread)
    elif len(found) != len(given):
        return f"says {len(found)} numbers ({_short(plain)}); the stored rows give {shown(figure)}"
    c = figure.comparison
    direction = _direction(plain, c.higher_is_better if c else None) if figure.kind == "signed" else None
    if all(_same(number, value, figure, direction) for number, value in zip(found, given, strict=True)):
        return None
    return f"says {_short(plain)}, the stored rows give {shown(figure)}"


def plain_text(text: str) -> str:
    """LaTeX as a reader sees it, as far as numbers go."""
    for pattern, meant in _PLAIN:
        text = re.sub(pattern, meant, text)
    return " ".join(text.split())


def shown(figure: PrintedFigure) -> str:
    """A figure for a message: more digits than a paper prints, where it has them."""
    if figure.kind == "word":
        c = figure.comparison
        return repr(figure.word) if c is None else f"{figure.word!r} ({_evidence(c)})"
    if not figure.known:
        return "nothing: it is undefined"
    sign = "+" if figure.kind == "signed" else ""
    whole = figure.kind == "count"
    texts = [f"{v:.0f}" if whole else f"{v:{sign}.{max(figure.digits, 3) + 1}f}" for v in figure.numbers]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _numbers(text: str) -> list[_Number]:
    found: list[_Number] = []
    for match in _PRINTED.finditer(text):
        number = match["number"].replace(",", "")
        mantissa, _, power = number.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        step = 10.0 ** (int(power or 0) - digits)
        signed = number[0] in "+-"
        found.append(_Number(float(number), step, match["sign"] or "", bool(match["unit"]), signed, number))
    return found


def _same(number: _Number, value: float, figure: PrintedFigure, direction: int | None) -> bool:
    scale = 100.0 if figure.share and (number.percent or abs(number.value) > 1) else 1.0
    value *= scale
    if figure.kind == "signed" and direction is not None and not number.signed:
        if value * direction < 0:
            return False
        value = abs(value)
    match number.sign:
        case "<" | "<=":
            return value < number.value or (number.sign == "<=" and value == number.value)
        case ">" | ">=":
            return value > number.value or (number.sign == ">=" and value == number.value)
        case _:
            return abs(number.value - value) <= number.step / 2 + 1e-9 * max(1.0, abs(value))


def _of_words(text: str, figure: PrintedFigure) -> str | None:
    c = figure.comparison
    if c is None:
        return None if figure.word in text else f"says {_short(text)}, the stored rows give {figure.word!r}"
    text, wrong = _without_p(text, c)
    told = f"says {_short(text)}, the stored rows give {shown(figure)}"
    if wrong is not None:
        return wrong
    if _PRINTED.search(text):
        return f"says {_short(text)}: a number other than p needs an address of its own"
    claims = [claim(text, c) for claim in (_significance, _equality, _open, _directed)]
    made = [claim for claim in claims if claim is not None]
    if not made:
        return (
            f"says {_short(text)}, which is no claim that can be checked; the verdict is {figure.word!r}: say "
            "'(not) significantly', 'better', 'worse', 'higher', 'lower', 'no difference' or the verdict itself"
        )
    return None if all(made) else told


def _without_p(text: str, c: Comparison) -> tuple[str, str | None]:
    """The text without "p < 0.01" and the like, and what is wrong with that."""
    pattern = re.compile(rf"\bp\b(?:-value)?\s*(?:is|of)?\s*(?P<told>(?:<=|>=|[<>=])?\s*(?:{NUMBER}))", re.I)
    figure = PrintedFigure("p")
    for found in pattern.finditer(text):
        numbers = _numbers(found["told"])
        if c.p_holm is None or not _same(numbers[0], c.p_holm, figure, None):
            return text, f"says {_short(found[0])}, the stored rows give p {p_value(c.p_holm)} after Holm"
    return pattern.sub(" ", text), None


def _significance(text: str, c: Comparison) -> bool | None:
    if re.search(NOT_SIGNIFICANT, text, re.I):
        return not c.significant
    return _shown_to_differ(c) if re.search(SIGNIFICANT, text, re.I) else None


def _equality(text: str, c: Comparison) -> bool | None:
    return c.verdict == "no difference" if re.search(_EQUAL, text, re.I) else None


def _open(text: str, c: Comparison) -> bool | None:
    return c.verdict in _UNDECIDED and c.verdict in text if re.search(_OPEN, text, re.I) else None


def _directed(text: str, c: Comparison) -> bool | None:
    """Who says better says that it was shown; "not significantly better" says nothing of a direction."""
    if re.search(NOT_SIGNIFICANT, text, re.I):
        return None
    direction = _direction(text, c.higher_is_better)
    if direction is None:
        return None
    return _shown_to_differ(c) and c.difference is not None and direction * c.difference > 0


def _shown_to_differ(c: Comparison) -> bool:
    """A small p does not do where too many answers are missing."""
    return c.significant and c.verdict in _DECIDED


def _direction(text: str, higher_is_better: bool | None) -> int | None:
    """1 where a text says up, -1 where it says down, 0 where it says both; None where it says neither. Whether better
    is up is for the metric to say; where nothing is known of it, it is."""
    good = -1 if higher_is_better is False else 1
    words = ((BETTER, good), (WORSE, -good), (HIGHER, 1), (LOWER, -1))
    found = {direction for own, direction in words if re.search(rf"\b(?:{own})\b", text, re.I)}
    return None if not found else found.pop() if len(found) == 1 else 0


def _evidence(c: Comparison) -> str:
    difference = "no difference known" if c.difference is None else f"difference {c.difference:+.{c.digits}f}"
    return f"{difference}, p {p_value(c.p_holm)} after Holm"


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:79]}…")
