"""What a skill of the offline model is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from seedbed.lm.offline.chance import Chance
from seedbed.lm.offline.lexicon import Lexicon
from seedbed.lm.offline.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that a skill may look at. There are no labels in it: the prompt is all it knows of the case."""

    prompt: Prompt
    chance: Chance
    lexicon: Lexicon


@dataclass(frozen=True, slots=True)
class Skill:
    """One thing that the model can do, and the shape of the signatures that ask for it."""

    name: str
    fits: Callable[[Prompt], bool]
    answer: Callable[[Call], Mapping[str, object]]
    """Values by output field. Fields it leaves out are filled by type, and values are made to fit their types."""


def input_like(prompt: Prompt, *kinds: str) -> str | None:
    """The first input field one of whose words is among the kinds: `retrieved_documents` is like "documents"."""
    return _like(prompt.inputs, kinds)


def output_like(prompt: Prompt, *kinds: str) -> str | None:
    """The first output field one of whose words is among the kinds."""
    return _like((field.name for field in prompt.output_fields), kinds)


def _like(names: Iterable[str], kinds: tuple[str, ...]) -> str | None:
    return next((name for name in names if not set(kinds).isdisjoint(re.split(r"[_\d]+", name.lower()))), None)
