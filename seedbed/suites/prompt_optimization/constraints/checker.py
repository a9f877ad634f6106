"""What a checker is, and how the arguments of a constraint are read."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

Arguments = Mapping[str, Any]

_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {"less than": operator.lt, "at least": operator.ge}


@dataclass(frozen=True, slots=True)
class Checker:
    kind: str
    """The benchmark's name for it."""
    says: str
    """The constraint in words, with its arguments in braces."""
    met: Callable[[str, Arguments, str], bool]
    """Response, arguments and prompt -> whether the response meets it."""
    unsaid: tuple[str, ...] = ()
    """Arguments it needs beside those that `says` names."""

    def told(self, arguments: Arguments) -> str:
        """The constraint with its arguments filled in."""
        return self.says.format_map({name: _shown(value) for name, value in arguments.items()})

    def objection(self, arguments: Arguments) -> str | None:
        """Why a constraint with these arguments cannot be checked; None where it can."""
        for name in (*_names(self.says), *self.unsaid):
            if name not in arguments:
                return f"{self.kind} lacks its argument {name}"
        for name, value in arguments.items():
            if name.endswith("relation") and value not in _RELATIONS:
                return f"{self.kind} has an unknown {name}"
        return None


def number(arguments: Arguments, name: str) -> int:
    """A count; the files give some of them as floats."""
    return int(arguments[name])


def compared(count: int, arguments: Arguments, limit: str, relation: str = "relation") -> bool:
    """A count beside the argument `limit`, as the argument `relation` says: "less than" or "at least"."""
    return _RELATIONS[arguments[relation]](count, number(arguments, limit))


def _names(template: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(template) if name]


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value))  # type: ignore[reportUnknownArgumentType]
    return int(value) if isinstance(value, float) else value
