"""Templates over a case's columns: {country} is its value, {{country}} the word in braces, every other brace itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seedbed.suites.kit.images import image_part, is_image

_PLACE = re.compile(r"\{\{(?P<kept>[A-Za-z_]\w*)\}\}|\{(?P<name>[A-Za-z_]\w*)\}")
_PART = re.compile(r"^\[(system|user)\][ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parts:
    system: str | None
    user: str


def parts_of(text: str) -> Parts:
    """The parts of a prompt's file; without a line [system] or [user] all of it is the user's."""
    found = _PART.split(text)
    named = {name: body.strip() for name, body in zip(found[1::2], found[2::2], strict=True)}
    if not named:
        return Parts(None, text.strip())
    return Parts(named.get("system"), named.get("user", ""))


def columns_in(template: str) -> list[str]:
    """The columns that a template names, each once, in order."""
    return list(dict.fromkeys(match["name"] for match in _PLACE.finditer(template) if match["name"]))


def fill(template: str, values: Mapping[str, Any]) -> str:
    """The text with the values in their places. A name that is no column stays as it is: an optimizer may have written
    it, and a config's own templates are checked before."""

    def put(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return f"{{{match['kept']}}}"
        return as_text(values[name]) if name in values else match[0]

    return _PLACE.sub(put, template)


def content(template: str, values: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    """The filled template as the content of a message: a text, or texts and images in the order they stand in."""
    if not any(is_image(values.get(name)) for name in columns_in(template)):
        return fill(template, values)
    parts: list[dict[str, Any]] = []
    at = 0
    for match in _PLACE.finditer(template):
        name = match["name"]
        if name is not None and is_image(values.get(name)):
            parts += [*_text_part(template[at : match.start()], values), image_part(values[name])]
            at = match.end()
    return [*parts, *_text_part(template[at:], values)]


def _text_part(template: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = fill(template, values)
    return [{"type": "text", "text": text}] if text.strip() else []


def as_text(value: Any) -> str:
    """How a value stands in a prompt."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
