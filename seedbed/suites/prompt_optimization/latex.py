"""Reads an expression in LaTeX as sympy understands it: numbers, variables, roots, fractions, powers, functions.

Juxtaposition multiplies. `e` and `i` are the constants, `\\log` is natural, `\\sin x y` takes all of x y.
"""

from __future__ import annotations

import re
from typing import Any

_MARK = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|(\\[A-Za-z]+)|(\\.)|(\S))")
_SPACING = re.compile(r"\\(?:left|right|[bB]ig+[lr]?|displaystyle|quad|qquad)(?![A-Za-z])|\\[,;:! ]|~|\$")
_NAMED_GROUP = re.compile(r"\\(?:mathrm|text|mathbf|operatorname)\s*\{([A-Za-z]+)\}")
_PAIRS = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", "|": "|"}
_TIMES = ("*", r"\times", r"\cdot")
_OVER = ("/", r"\div")
_FUNCTIONS = {
    **{rf"\{name}": name for name in ("sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "exp")},
    **{rf"\arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
    r"\ln": "log",
    r"\log": "log",
}
_INVERSE = {"sin": "asin", "cos": "acos", "tan": "atan", "sec": "asec", "csc": "acsc", "cot": "acot"}
_CONSTANTS = {r"\pi": "pi", "π": "pi", r"\infty": "oo", "e": "E", "i": "I"}


class UnreadableLatex(ValueError):
    """Something else than an expression."""


def read_latex(text: str) -> Any:
    """The sympy expression; raises UnreadableLatex for what is none."""
    reader = _Reader(_marks(text))
    value = reader.sum()
    if reader.peek() is not None:
        raise UnreadableLatex(f"unexpected {reader.peek()!r}")
    return value


def _marks(text: str) -> list[str]:
    text = _NAMED_GROUP.sub(lambda found: found[1] if len(found[1]) == 1 else rf"\{found[1]} ", text)
    text = re.sub(r"\\[dt]frac(?![A-Za-z])", r"\\frac", _SPACING.sub(" ", text))
    return [next(part for part in found if part) for found in _MARK.findall(text.strip())]


class _Reader:
    def __init__(self, marks: list[str]) -> None:
        import sympy

        self._sympy: Any = sympy
        self._marks = marks
        self._at = 0

    def peek(self) -> str | None:
        return self._marks[self._at] if self._at < len(self._marks) else None

    def _next(self) -> str:
        mark = self.peek()
        if mark is None:
            raise UnreadableLatex("it ends too early")
        self._at += 1
        return mark

    def _expect(self, mark: str) -> None:
        if self._next() != mark:
            raise UnreadableLatex(f"{mark!r} is missing")

    def sum(self) -> Any:
        value = self._product()
        while (sign := self.peek()) in ("+", "-"):
            self._next()
            value = value + self._product() if sign == "+" else value - self._product()
        return value

    def _product(self) -> Any:
        value = self._signed()
        while (mark := self.peek()) is not None:
            if mark in _TIMES:
                self._next()
                value *= self._signed()
            elif mark in _OVER:
                self._next()
                value /= self._signed()
            elif self._starts_factor(mark):
                value *= self._power()
            else:
                break
        return value

    def _starts_factor(self, mark: str) -> bool:
        known = mark in _FUNCTIONS or mark in ("(", "[", "{", r"\{", r"\frac", r"\sqrt")
        return known or mark[0].isalnum() or (mark[0] == "\\" and mark[1:].isalpha())

    def _signed(self) -> Any:
        if self.peek() in ("+", "-"):
            return -self._signed() if self._next() == "-" else self._signed()
        return self._power()

    def _power(self) -> Any:
        value = self._factor()
        while self.peek() in ("^", "!"):
            value = value ** self._argument() if self._next() == "^" else self._sympy.factorial(value)
        return value

    def _argument(self) -> Any:
        """What `^` and `_` take: a group, or the one mark behind them, though TeX itself reads x^10 as x^1 0."""
        if self.peek() == "-":
            self._next()
            return -self._argument()
        return self._factor()

    def _short_argument(self) -> Any:
        """What `\\frac` and `\\sqrt` take: a group, or the one mark behind them, of a number its first digit."""
        mark = self.peek() or ""
        if mark[:1].isdigit() and len(mark) > 1:
            self._marks[self._at : self._at + 1] = [mark[0], mark[1:]]
        return self._factor()

    def _factor(self) -> Any:
        mark = self._next()
        if mark in _PAIRS:
            value = self.sum()
            self._expect(_PAIRS[mark])
            return abs(value) if mark == "|" else value
        if mark in _FUNCTIONS:
            return self._function(_FUNCTIONS[mark])
        if mark == r"\frac":
            over = self._short_argument()
            return over / self._short_argument()
        if mark == r"\sqrt":
            return self._root()
        return self._number(mark) if mark[0].isdigit() or mark[0] == "." else self._name(mark)

    def _number(self, mark: str) -> Any:
        return self._sympy.Rational(mark)

    def _name(self, mark: str) -> Any:
        if mark in _CONSTANTS:
            return getattr(self._sympy, _CONSTANTS[mark])
        name = mark.removeprefix("\\")
        if not name.isalpha() or (mark == name and len(name) > 1):
            raise UnreadableLatex(f"unexpected {mark!r}")
        if self.peek() == "_":
            self._next()
            return self._sympy.Symbol(f"{name}_{self._argument()}")
        return self._sympy.Symbol(name)

    def _root(self) -> Any:
        degree = 2
        if self.peek() == "[":
            self._next()
            degree = self.sum()
            self._expect("]")
        return self._short_argument() ** (self._sympy.Integer(1) / degree)

    def _function(self, name: str) -> Any:
        base = power = None
        while self.peek() in ("_", "^"):
            if self._next() == "_":
                base = self._argument()
            else:
                power = self._argument()
        if power == -1 and name in _INVERSE:
            name, power = _INVERSE[name], None
        arguments = [self._function_argument(), *([base] if base is not None else [])]
        value = getattr(self._sympy, name)(*arguments)
        return value if power is None else value**power

    def _function_argument(self) -> Any:
        """A group, or all factors up to the next sign or function."""
        if self.peek() in _PAIRS:
            return self._factor()
        value = self._signed()
        while (mark := self.peek()) is not None and mark not in _FUNCTIONS and self._starts_factor(mark):
            value *= self._power()
        return value
