"""A parser whose refusals name what was probably meant, and which knows its own commands and options."""

from __future__ import annotations

import argparse
import difflib
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

N = TypeVar("N", int, float)

_INVALID = re.compile(r"argument (?P<argument>[^:]+): invalid choice: '(?P<given>.*?)' \(choose from (?P<known>.*)\)")


def number(low: float, high: float = math.inf) -> Callable[[str], float]:
    """The type of an option that is a number within bounds."""
    return lambda text: _within(text, float, "number", low, high)


def whole(low: int, high: float = math.inf) -> Callable[[str], int]:
    """The type of an option that is a whole number within bounds."""
    return lambda text: _within(text, int, "whole number", low, high)


def _within(text: str, kind: Callable[[str], N], what: str, low: float, high: float) -> N:
    wanted = f"give {low:g} to {high:.0f}" if math.isfinite(high) else f"give {low:g} or more"
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no {what}; {wanted}")
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is too {'small' if value < low else 'large'}; {wanted}")
    return value


class Parser(argparse.ArgumentParser):
    """argparse's, with `actions` and `commands` for who completes or corrects, and one sentence where it refuses."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self.actions: list[argparse.Action] = []
        self.commands: dict[str, Parser] = {}
        super().__init__(*arguments, **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        action = super().add_argument(*names, **settings)
        self.actions.append(action)
        return action

    @property
    def options(self) -> list[str]:
        """All that begin with a dash."""
        return [name for action in self.actions for name in action.option_strings]

    def error(self, message: str) -> NoReturn:
        """One sentence on stderr and exit code 2."""
        found = _INVALID.fullmatch(message)
        if found is not None:
            known = re.findall(r"'(.*?)'", found["known"])
            what = "command" if found["argument"] == "COMMAND" else found["argument"]
            message = f"{what} {found['given']!r} is unknown; {near(found['given'], known)}Known: {', '.join(known)}"
        self.exit(2, f"{self.prog}: {message}. `{self.prog} --help` tells more.\n")

    def refuse_option(self, name: str) -> NoReturn:
        self.error(f"option {name} is unknown; {near(name, self.options)}Known: {', '.join(self.options)}")

    def refuse_unknown(self, rest: list[str], command: str) -> NoReturn:
        """Refuse what no option of a command is."""
        own = self.commands[command]
        wrong = next((word for word in rest if word.startswith("-")), rest[0])
        name = wrong.partition("=")[0]
        if wrong.startswith("-"):
            own.refuse_option(name)
        own.error(f"{wrong!r} is one word too many")


def near(given: str, known: Iterable[str]) -> str:
    """`did you mean 'run'? ` where one is near."""
    close = difflib.get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""
