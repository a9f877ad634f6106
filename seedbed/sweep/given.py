"""Objects that Python code gave to an experiment: functions and modules of a notebook. A config names each by a key of
its name and its code, so that an edited one is another."""

from __future__ import annotations

import json
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_json
from seedbed.sweep.code import code_version

_given: dict[str, Any] = {}
_OF_DSPY = frozenset({"stage", "callbacks", "history", "_compiled"})
"""Attributes of every module, one of them drawn at random."""


def give(name: str, target: Any) -> str:
    """Make an object known to this process; returns its key."""
    key = f"{name}@{hash_json(_parts(target))[:12]}"
    _given[key] = target
    return key


def given(key: str) -> Any:
    """The object behind a key."""
    if key not in _given:
        name = key.partition("@")[0]
        raise UserError(f"{name!r} is an object that a Python program gave; run that program again, in one process.")
    return _given[key]


def is_given(key: str) -> bool:
    return key in _given


def _parts(target: Any) -> list[Any]:
    """The code, and of an instance its state: a DSPy module's prompts, and its plain attributes."""
    if not hasattr(target, "dump_state"):
        return [code_version(target)]
    plain = {name: value for name, value in vars(target).items() if name not in _OF_DSPY and _is_plain(value)}
    return [code_version(type(target)), target.dump_state(json_mode=True), plain]


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
