"""The version of code that lies in no file: functions typed into a notebook or at a prompt.

A function is its source, and that of everything it names which was typed in too; constants it names count by value.
What comes from installed packages does not count, what comes from a file of the user's counts as it does for plugins.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

_LONGEST = 100_000
"""Characters of a constant: a longer one is data, and counts by its type alone."""


def live_parts(target: Any) -> dict[str, Any]:
    """By name, the texts and values that a function or class is made of."""
    found: dict[str, Any] = {}
    _add(target, found)
    return found


def _add(value: Any, found: dict[str, Any]) -> None:
    key = f"{value.__module__}.{value.__qualname__}"
    if key in found:
        return
    found[key] = _text(value)
    if isinstance(value, type):
        for member in vars(value).values():
            inner = getattr(member, "__func__", member)
            if isinstance(inner, FunctionType):
                _add_names(inner, found)
    else:
        _add_names(value, found)


def _add_names(function: Any, found: dict[str, Any]) -> None:
    for name in dict.fromkeys(_names(function.__code__)):
        if name in function.__globals__:
            _add_value(name, function.__globals__[name], found)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        _add_value(name, cell.cell_contents, found)
    for place, default in enumerate(function.__defaults__ or ()):
        _add_value(f"{function.__qualname__} default {place}", default, found)


def _add_value(name: str, value: Any, found: dict[str, Any]) -> None:
    from seedbed.sweep.code import code_version, is_users

    if isinstance(value, ModuleType):
        if is_users(value):
            found[name] = inspect.getsource(value)
    elif isinstance(value, FunctionType | type):
        home = sys.modules.get(value.__module__)
        if home is None or _is_typed_in(value, home):
            _add(value, found)
        elif is_users(home):
            found[f"{value.__module__}.{value.__qualname__}"] = code_version(value)
    elif (shown := _constant(value)) is not None:
        found[name] = shown
    else:
        found[name] = f"{type(value).__module__}.{type(value).__qualname__}"


def _is_typed_in(value: Any, home: ModuleType) -> bool:
    """Whether a definition is not in the file of the module whose name it has: notebooks call themselves __main__."""
    if getattr(home, "__file__", None) is None:
        return True
    space = getattr(value, "__globals__", None)
    return space is not vars(home) if space is not None else getattr(home, value.__name__, None) is not value


def _constant(value: Any) -> str | None:
    if value is None or isinstance(value, str | bytes | bool | int | float | tuple | list | dict | set | frozenset):
        shown = repr(sorted(map(repr, value)) if isinstance(value, set | frozenset) else value)
        # An object among them would show its place in memory.
        return None if len(shown) > _LONGEST or " at 0x" in shown else shown
    return None


def _text(value: Any) -> Any:
    """Source without comments and layout, or what it was compiled to where there is none of its own."""
    if not (isinstance(value, FunctionType) and value.__name__ == "<lambda>"):
        try:
            return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(value))))
        except (OSError, TypeError, SyntaxError):
            pass
    code = getattr(value, "__code__", None)
    return list(_compiled(code)) if code is not None else sorted(vars(value))


def _compiled(code: CodeType) -> Iterator[Any]:
    yield [code.co_code.hex(), list(code.co_names), list(code.co_varnames)]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _compiled(constant)
        else:
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
