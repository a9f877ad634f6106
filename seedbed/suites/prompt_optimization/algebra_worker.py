"""The process behind `algebra`: a pair of expressions a line in, true or false a line out."""

from __future__ import annotations

import json
import resource
import signal
import sys
from typing import Any

from seedbed.suites.prompt_optimization.latex import read_latex

_MEMORY = 2 * 1024**3
_TIME_S = 60
"""Whoever asks gives up long before; one that was killed leaves nothing running for ever."""
_TOLERANCE = 0.001
"""Numbers that differ by less are equal, as to LiveBench."""
_NEAR = 1e-9
_POINTS = (0.371, 0.683, 1.137, 1.719, 2.293, -0.457, -1.291, 3.611)
_ENOUGH = 3
"""Points at which two expressions with variables must have a value, and the same one."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    import sympy

    print(f"ready {sympy.__version__}", flush=True)
    for line in sys.stdin:
        signal.alarm(_TIME_S)
        left, right = json.loads(line)
        print("true" if equal(left, right) else "false", flush=True)
        signal.alarm(0)


def equal(left: str, right: str) -> bool:
    """Equal as numbers within the tolerance, or as functions: both have the same values wherever they are tried."""
    try:
        one, other = read_latex(left), read_latex(right)
        difference = one - other
        if difference == 0:
            return True
        variables = sorted(difference.free_symbols, key=str)
        if not variables:
            return bool(abs(complex(difference.evalf(20))) < _TOLERANCE)
        return _same_values(one, other, variables)
    except (ArithmeticError, AttributeError, MemoryError, RecursionError, TypeError, ValueError):
        return False


def _same_values(one: Any, other: Any, variables: list[Any]) -> bool:
    tried = 0
    for start in range(len(_POINTS)):
        point = {name: _POINTS[(start + place) % len(_POINTS)] for place, name in enumerate(variables)}
        values = [_value(expression, point) for expression in (one, other)]
        if None in values:
            continue
        if abs(values[0] - values[1]) > _NEAR * max(1.0, abs(values[0])):
            return False
        tried += 1
    return tried >= _ENOUGH


def _value(expression: Any, point: dict[Any, float]) -> Any:
    """None where there is none, as of a logarithm of 0 or at a pole."""
    value = complex(expression.evalf(25, subs=point))
    return value if abs(value) < float("inf") else None


if __name__ == "__main__":
    main()
