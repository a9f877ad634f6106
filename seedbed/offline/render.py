"""Writes output values in the format that the prompt asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from seedbed.offline.prompt import PLAIN_OUTPUT, Prompt

_HEADER = re.compile(r"\[\[ ## (\w+) ## \]\]")


def render(prompt: Prompt, values: Mapping[str, object]) -> str:
    """`values` has one entry for each output field, already of the field's type."""
    ordered = {field.name: values[field.name] for field in prompt.output_fields}
    if prompt.format == "plain":
        return _as_text(ordered[PLAIN_OUTPUT])
    if prompt.format == "json":
        return json.dumps(ordered, ensure_ascii=False, indent=2)
    parts = [f"[[ ## {name} ## ]]\n{_without_headers(_as_text(value))}" for name, value in ordered.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def break_format(reply: str) -> str:
    """The same words without what lets a parser find the fields: a model that forgot the format."""
    words = _HEADER.sub(" ", reply)
    # Braces and quotes go too: lenient JSON parsers would find an object in almost anything that has them.
    return "Well, " + " ".join(re.sub(r"[{}\[\]\"]", " ", words).split())


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _without_headers(text: str) -> str:
    """A value that quotes a header would end its own field."""
    return _HEADER.sub(r"\1", text)
