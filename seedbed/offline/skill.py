"""What a skill of the offline model is made of: the one module of seedbed.offline that suites and plugins import.

A suite names a module in `Suite(offline="my_suite.offline")`; the model imports it when it is made, and the module says
what it teaches:

    register(__name__, skills=[Skill("greet", lambda prompt: "greeting" in output_names(prompt), greet)])

Skills are tried in an order that no import changes: those of the built-in suites, those of plugins, each by the name
of their module, then the general ones. The first that fits a prompt answers it. A plugin can thus take no prompt from
the skills of a built-in suite, but it can from the general ones: a skill should fit the shapes of its own suite alone.

Beside what is defined here a skill may use the names of `__all__` that lie elsewhere: the parts of a prompt, the luck
of a call, advice, and helpers for texts (`texts`), questions (`kind_of`) and what could answer them (`spans`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from seedbed.offline import text as texts
from seedbed.offline.advice import INTEGER, SHORT, STEPS, Advice, Lesson
from seedbed.offline.chance import Chance, uniform
from seedbed.offline.lexicon import Lexicon
from seedbed.offline.prompt import PLAIN_INPUT, PLAIN_OUTPUT, Demo, OutputField, Prompt
from seedbed.offline.question import kind_of
from seedbed.offline.spans import spans

__all__ = [
    "INTEGER",
    "PLAIN_INPUT",
    "PLAIN_OUTPUT",
    "SHORT",
    "STEPS",
    "THOUGHTS",
    "Advice",
    "Call",
    "Chance",
    "Demo",
    "Expertise",
    "Lesson",
    "Lexicon",
    "OutputField",
    "Prompt",
    "Skill",
    "asks_for",
    "input_like",
    "kind_of",
    "output_like",
    "output_names",
    "register",
    "registered",
    "spans",
    "texts",
    "uniform",
    "with_thought",
]

THOUGHTS = ("reasoning", "rationale", "thought", "thoughts")


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that a skill may look at. There are no labels in it: the prompt is all it knows of the case."""

    prompt: Prompt
    chance: Chance
    lexicon: Lexicon
    advice: tuple[Advice, ...] = ()
    """What the model has learned to advise, for skills that write instructions."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One thing that the model can do, and the shape of the signatures that ask for it."""

    name: str
    fits: Callable[[Prompt], bool]
    answer: Callable[[Call], Mapping[str, object]]
    """Values by output field. Fields it leaves out are filled by type, and values are made to fit their types."""
    case: Callable[[Prompt], object] | None = None
    """What of a prompt the model's luck depends on; null takes all inputs."""


@dataclass(frozen=True, slots=True)
class Expertise:
    """What the model has learned: from one module, or in all."""

    skills: tuple[Skill, ...] = ()
    """In the order in which they are tried."""
    advice: tuple[Advice, ...] = ()
    data: tuple[Path, ...] = ()
    """Folders with files for the lexicon: `parallel.jsonl`, `names.jsonl`, `knowledge.jsonl`, each if it is there."""


_registered: dict[str, Expertise] = {}


def register(
    module: str, *, skills: Iterable[Skill] = (), advice: Iterable[Advice] = (), data: Iterable[Path] = ()
) -> None:
    """Teach the model; `module` is the caller's `__name__`. What the same module registered before is forgotten."""
    _registered[module] = Expertise(tuple(skills), tuple(advice), tuple(data))


def registered() -> dict[str, Expertise]:
    """By module, what has been registered so far."""
    return dict(_registered)


def input_like(prompt: Prompt, *kinds: str) -> str | None:
    """The first input field one of whose words is among the kinds: `retrieved_documents` is like "documents"."""
    return _like(prompt.inputs, kinds)


def output_like(prompt: Prompt, *kinds: str) -> str | None:
    """The first output field one of whose words is among the kinds."""
    return _like((field.name for field in prompt.output_fields), kinds)


def output_names(prompt: Prompt) -> set[str]:
    """The names of the fields to fill."""
    return {field.name for field in prompt.output_fields}


def asks_for(prompt: Prompt, inputs: set[str], outputs: set[str]) -> bool:
    """Whether the signature has all of these fields, by their very names."""
    return inputs <= set(prompt.inputs) and outputs <= output_names(prompt)


def with_thought(prompt: Prompt, values: Mapping[str, object], thought: str) -> Mapping[str, object]:
    """Adds the thought where the signature has a field for one, as ChainOfThought does."""
    field = output_like(prompt, *THOUGHTS)
    return {field: thought, **values} if field else values


def _like(names: Iterable[str], kinds: tuple[str, ...]) -> str | None:
    return next((name for name in names if not set(kinds).isdisjoint(re.split(r"[_\d]+", name.lower()))), None)
