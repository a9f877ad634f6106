"""How a file of rows becomes things that are searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from seedbed.suites.kit.rows import Row

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recipe(Generic[T]):
    shape: str
    """What a row looks like, for messages."""
    make: Callable[[Row], Sequence[T] | str]
    """The things of a row, or the reason why it is left out."""
    text: Callable[[T], str]
    """What is searched of a thing."""
    tokens: Callable[[str], Sequence[str]]
    dump: Callable[[T], bytes]
    load: Callable[[bytes], T]
    version: Any
    """Names all of the above and what they depend on beside the file: part of a kept corpus's name. Change it with
    them."""
    unique: tuple[str, Callable[[T], str]] | None = None
    """The name of an id and the id itself, where no two things may have the same."""
