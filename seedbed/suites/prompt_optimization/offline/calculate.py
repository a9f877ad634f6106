"""Solves short exercises: arithmetic, remainders, linear equations, divisors, sums."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from seedbed.offline.skill import INTEGER, STEPS, Call, Prompt, Skill, output_names, with_thought

_FIELDS = ("problem",)
_HASTY_STEPS = 3
"""A hurried solution has to go well so many times to be right."""

_OPERATORS: Mapping[type[ast.AST], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _fits(prompt: Prompt) -> bool:
    return any(name in prompt.inputs for name in _FIELDS) and "answer" in output_names(prompt)


def _answer(call: Call) -> Mapping[str, object]:
    problem = next(call.prompt.inputs[name] for name in _FIELDS if name in call.prompt.inputs)
    careful = STEPS.followed(call)
    value = solve(problem)
    if value is None:
        value = Fraction(len(problem) % 1000)  # no idea, but something must be said
    elif call.chance.slips("calculate", steps=1 if careful else _HASTY_STEPS):
        value += call.chance.pick("by how much", (1, -1, 2, 10))
    shown = str(value)
    bare = INTEGER.followed(call) or (_bare_demos(call.prompt) and not call.chance.slips("imitate"))
    thought = f"Step by step: {shown}." if careful else f"That should be about {shown}."
    return with_thought(call.prompt, {"answer": shown if bare else f"The answer is {shown}."}, thought)


def _bare_demos(prompt: Prompt) -> bool:
    answers = [demo.outputs["answer"] for demo in prompt.demos if "answer" in demo.outputs]
    bare = sum(bool(re.fullmatch(r"-?\d+(?:/\d+)?", answer)) for answer in answers)
    return bool(answers) and bare * 2 > len(answers)


def solve(problem: str) -> Fraction | None:
    """The value an exercise asks for; None for a kind that is not known."""
    for pattern, method in _METHODS:
        if found := re.search(pattern, problem, re.IGNORECASE):
            try:
                return Fraction(method(*found.groups()))
            except (ValueError, ZeroDivisionError, SyntaxError):
                return None
    return None


def _value(expression: str) -> Fraction:
    return _reduce(ast.parse(expression.replace("^", "**").strip(), mode="eval").body)


def _reduce(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_reduce(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _reduce(node.left), _reduce(node.right)
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and 0 <= right <= 20:
            return left ** int(right)
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](left, right)
    raise ValueError("not arithmetic")


def _divisors(n: str) -> int:
    return sum(int(n) % d == 0 for d in range(1, int(n) + 1))


_E = r"([-+*/^()\d ]+?)"
_METHODS: tuple[tuple[str, Callable[..., int | Fraction]], ...] = (
    (rf"remainder when {_E} is divided by (\d+)", lambda e, m: _value(e) % int(m)),
    (r"greatest common divisor of (\d+) and (\d+)", lambda a, b: math.gcd(int(a), int(b))),
    (r"least common multiple of (\d+) and (\d+)", lambda a, b: math.lcm(int(a), int(b))),
    (r"how many positive divisors does (\d+)", _divisors),
    (r"sum of the digits of (\d+)", lambda n: sum(map(int, n))),
    (r"sum of the first (\d+) positive integers", lambda n: int(n) * (int(n) + 1) // 2),
    (r"sum of the squares of the first (\d+)", lambda n: int(n) * (int(n) + 1) * (2 * int(n) + 1) // 6),
    (r"choose (\d+) of (\d+)", lambda k, n: math.comb(int(n), int(k))),
    (r"solve (-?\d+)x \+ (\d+) = (-?\d+)", lambda a, b, c: Fraction(int(c) - int(b), int(a))),
    (r"rectangle with sides (\d+) and (\d+)", lambda a, b: int(a) * int(b)),
    (r"(\d+) percent of (\d+)", lambda p, n: Fraction(int(p) * int(n), 100)),
    (rf"(?:compute|evaluate|value of) {_E}[.?]?\s*$", _value),
)

CALCULATE = Skill("calculate", _fits, _answer)
