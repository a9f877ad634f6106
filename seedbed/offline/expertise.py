"""Gathers what the model has learned: from the suites, which it knows by name only, from plugins, and in general."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from seedbed.errors import UserError
from seedbed.offline.lexicon import Lexicon
from seedbed.offline.skill import Expertise, registered
from seedbed.sweep.registry import get_suite, suite_names

_GENERAL = "seedbed.offline.skills"
_BUILT_IN = "seedbed.suites."


def gather() -> Expertise:
    """All that is known now. A plugin imported later is known to the models made after it."""
    importlib.import_module(_GENERAL)
    for name in suite_names():
        if module := get_suite(name).offline:
            _import(name, module)
    known = registered()
    parts = [known[module] for module in sorted(known, key=_place)]
    return Expertise(
        tuple(skill for part in parts for skill in part.skills),
        tuple(advice for part in parts for advice in part.advice),
        tuple(folder for part in parts for folder in part.data),
    )


@cache
def lexicon_of(folders: tuple[Path, ...]) -> Lexicon:
    """Built at the first use: reading takes longer than many a command that makes a model and never asks it."""
    return Lexicon.load(*folders)


def _place(module: str) -> tuple[bool, bool, str]:
    """Where a module's part stands: the particular before the general, and what ships with Seedbed before plugins."""
    return module == _GENERAL, not module.startswith(_BUILT_IN), module


def _import(suite: str, module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            f"suite {suite!r}: cannot import its offline skills {module!r} ({error}); correct `offline=` of the suite, "
            "or install what the module needs."
        ) from error
