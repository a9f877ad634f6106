"""Comparing a short answer with gold: exact match of texts, equality of numbers and expressions."""

from __future__ import annotations

import re
import string
import unicodedata
from fractions import Fraction

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_BOX = re.compile(r"\\(?:boxed|framebox|fbox)(?:\s*(?=\{)|\s)")
_SOLUTION = re.compile(r"<solution>(.*?)</solution>", re.DOTALL)
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_LATEX_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_NOISE = (r"\left", r"\right", r"\,", r"\;", r"\!", r"\ ", "$", r"\text", r"\mathrm", r"\displaystyle", " ")
_LETTERS = re.compile(r"(?:\b|\()([A-Z])\)?(?:\b|$)")


def normalise(text: str) -> str:
    """As DSPy's exact match, and HotpotQA's own but for the first step: letters and their accents taken apart (NFD),
    lower case, no punctuation, no articles, single spaces."""
    text = unicodedata.normalize("NFD", text).lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def exact_match(answer: str, gold: str) -> bool:
    return normalise(answer) == normalise(gold)


def integer(answer: str, *, lenient: bool = False) -> int | None:
    """The integer an answer consists of; None where it says anything else, since 204 minutes is not an integer. A
    lenient reader takes it out of a box, dollars and a full stop."""
    bare = _unboxed(answer).strip().strip("$").strip().rstrip(".") if lenient else answer
    try:
        return int(bare)
    except ValueError:
        return None


def same_expression(answer: str, gold: str) -> bool:
    """Equal as numbers where both are, else equal as LaTeX or text once spacing and dressing are gone. Lists part at
    commas; a multiple-choice gold such as AAAAA or B compares by letters."""
    if re.fullmatch(r"([A-F])\1*", gold.strip()) and (letter := _letter(answer)):
        return letter[0] == gold.strip()[0]
    if (whole := _number(answer)) is not None and whole == _number(gold):
        return True
    left, right = _parts(answer), _parts(gold)
    return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^{(\[]*[})\]])", _unboxed(text)) if part.strip()]


def _same(left: str, right: str) -> bool:
    a, b = _number(left), _number(right)
    return a == b if a is not None and b is not None else _plain(left) == _plain(right)


def _number(text: str) -> Fraction | None:
    plain = _plain(text).replace("(", "").replace(")", "")
    try:
        return Fraction(plain) if re.fullmatch(r"[+-]?[\d.]+(?:/\d+)?", plain) else None
    except (ValueError, ZeroDivisionError):
        return None


def _plain(text: str) -> str:
    text = _LATEX_ROOT.sub(r"sqrt(\1)", _LATEX_FRACTION.sub(r"(\1)/(\2)", text))
    for noise in _NOISE:
        text = text.replace(noise, "")
    text = re.sub(r"\((\w+)\)", r"\1", text.replace("{", "(").replace("}", ")").replace("\\", ""))
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text).rstrip(".").casefold()


def boxed(text: str) -> str | None:
    """What stands in the last box, without dollars; None where there is no box, or none that is closed."""
    found = list(_BOX.finditer(text))
    if not found:
        return None
    start, depth = found[-1].end(), 0
    if text[start : start + 1] != "{":
        return text[start:].split("$")[0]
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + 1 : place].replace("$", "")
    return None


def _unboxed(text: str) -> str:
    """What stands in the last box or the last pair of solution tags, or all of it."""
    text = (_SOLUTION.findall(text) or [text])[-1]
    inside = boxed(text)
    return text if inside is None else inside


def _letter(answer: str) -> str | None:
    """The choice an answer names: a single letter, or the same one repeated."""
    bare = _unboxed(answer).strip().strip("*().$ ")
    if re.fullmatch(r"([A-F])\1*", bare):
        return bare[0]
    named = _LETTERS.findall(bare)
    return named[-1] if len(set(named)) == 1 else None
