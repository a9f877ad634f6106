"""Normalisation of answers before they are compared, and the overlap of two token sequences.

The rules work a code point at a time once a text is in NFKC and lower case, so one table, filled as characters are
met, serves both the single functions and the batch.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

SIGNS = "\N{TRADE MARK SIGN}\N{SERVICE MARK}\N{REGISTERED SIGN}\N{COPYRIGHT SIGN}"
"""Removed before NFKC, which would turn some of them into letters ("tm" glued to the name)."""

DOTTED_I = "i\N{COMBINING DOT ABOVE}"
"""What `lower()` makes of the Turkish capital dotted I; read as a plain "i"."""

V = TypeVar("V")
Tokens = TypeVar("Tokens", str, list[str])

_SPACE = ord(" ")
_VARIATION_SELECTORS = frozenset(
    [*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)],
)


def fold_code_point(code: int) -> int | None:
    """What one code point of an NFKC, lower-case text becomes: itself, an ASCII digit, a space, or None (dropped)."""
    if code in _VARIATION_SELECTORS:
        return None
    char = chr(code)
    category = unicodedata.category(char)
    if category == "Cf":
        return None
    if category == "Nd":
        return ord("0") + unicodedata.decimal(char)
    return code if category[0] in "LMN" else _SPACE


class CodePointCache(dict[int, V], Generic[V]):
    """A `str.translate` table that works out each code point when it is first met and keeps it."""

    def __init__(self, compute: Callable[[int], V]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, code: int) -> V:
        value = self[code] = self._compute(code)
        return value


FOLD: CodePointCache[int | None] = CodePointCache(fold_code_point)

# ASCII needs neither NFKC nor the sign and dotted-i rules, and its lower case is a table too: one pass does it all.
_ASCII = {code: fold_code_point(ord(chr(code).lower())) for code in range(128)}


def normalise(text: str) -> str:
    """The form in which answers are compared: lower-case letters, marks and numbers with single spaces between runs.

    Case is lowered, not folded ("Straße" stays apart from "STRASSE"); diacritics stay; decimal digits of any script
    become ASCII; signs such as the trade mark vanish, all other punctuation and symbols separate words.
    """
    if text.isascii():
        return " ".join(text.translate(_ASCII).split())
    for sign in SIGNS:
        text = text.replace(sign, "")
    text = unicodedata.normalize("NFKC", text).lower().replace(DOTTED_I, "i")
    return " ".join(text.translate(FOLD).split())


def token_f1(pred: Tokens, gold: Tokens) -> float:
    """Harmonic mean of precision and recall over the multiset of tokens; a string is a sequence of characters.

    Two empty sequences agree (1.0), one empty sequence agrees with nothing (0.0).
    """
    if not pred or not gold:
        return float(len(pred) == len(gold))
    wanted = set(gold)
    common = wanted.intersection(pred)
    if not common:
        return 0.0
    # A gold that repeats nothing, the usual case, makes each common token count once.
    if len(wanted) == len(gold):
        overlap = len(common)
    else:
        overlap = sum(min(pred.count(token), gold.count(token)) for token in common)
    return 2.0 * overlap / (len(pred) + len(gold))


def normalised_f1(pred: str, gold: str, by_character: bool) -> float:
    """Token F1 of two texts that `normalise` has been over; tokens are characters without spaces, or words."""
    if pred == gold:
        return 1.0
    if by_character:
        return token_f1(pred.replace(" ", ""), gold.replace(" ", ""))
    # Most golds are one word, and most wrong answers do not hold it at all: no need to take the answer apart.
    if " " not in gold and gold not in pred:
        return 0.0
    return token_f1(pred.split(), gold.split())


def answers(gold: str | Sequence[str]) -> Sequence[str]:
    """The accepted answers of a gold that may be one string or a list of aliases; an empty list is an error."""
    if isinstance(gold, str):
        return (gold,)
    if not gold:
        raise ValueError("gold is an empty list; give at least one accepted answer, or '' for an empty one")
    return gold
