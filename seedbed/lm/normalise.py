"""A request as its key is made of it, without what differs from run to run (`normalise:` of a config)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from seedbed.lm.types import JsonDict
from seedbed.sweep.normalise_config import NormaliseRule, path_steps


def normalised(body: JsonDict, rules: Sequence[NormaliseRule]) -> JsonDict:
    """A copy in which each rule has taken out what does not count."""
    for rule in rules:
        if rule.pattern is not None:
            body = _in_texts(body, re.compile(rule.pattern), rule.replace)
        elif rule.path is not None:
            body = _at(body, path_steps(rule.path), rule.replace)
    return body


def _in_texts(value: Any, pattern: re.Pattern[str], new: str) -> Any:
    if isinstance(value, str):
        return pattern.sub(new, value)
    if isinstance(value, dict):
        return {key: _in_texts(item, pattern, new) for key, item in cast("JsonDict", value).items()}
    if isinstance(value, list):
        return [_in_texts(item, pattern, new) for item in cast("list[Any]", value)]
    return value


def _at(value: Any, steps: Sequence[str | int | None], new: str) -> Any:
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        return {**value, step: _at(value[step], rest, new)}
    if isinstance(value, list) and not isinstance(step, str):
        items = cast("list[Any]", value)
        return [_at(item, rest, new) if step is None or step == at else item for at, item in enumerate(items)]
    return value
