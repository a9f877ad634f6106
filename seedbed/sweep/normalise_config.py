"""What of a request does not count when its answer is looked up: the part of a config under `normalise:`."""

from __future__ import annotations

import re

from pydantic import ConfigDict, Field, field_validator, model_validator

from seedbed.sweep.model_config import Frozen

_STEP = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d+|\*)\]")


class NormaliseRule(Frozen):
    """A time, a random id: what differs from run to run and must not make a stored answer useless. Applied to the key
    of a request alone, never to what is sent."""

    pattern: str | None = None
    """A regular expression; what it finds in any text of the request counts as `replace`."""
    path: str | None = None
    """The place of a value in the request, which counts as `replace`: user, messages[*].name, tools[0].type."""
    replace: str = Field(default="*", alias="with")
    """What stands in its place; groups of the expression as \\\\1."""

    model_config = ConfigDict(populate_by_name=True)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"{value!r} is no regular expression ({error})") from None
        return value

    @field_validator("path")
    @classmethod
    def _is_a_path(cls, value: str | None) -> str | None:
        if value is not None:
            path_steps(value)
        return value

    @model_validator(mode="after")
    def _one_of_both(self) -> NormaliseRule:
        if (self.pattern is None) == (self.path is None):
            raise ValueError("give either pattern: (a regular expression) or path: (messages[*].name)")
        try:
            re.compile(self.pattern or "").sub(self.replace, "")
        except (re.error, IndexError) as error:
            raise ValueError(f"with: {self.replace!r} does not fit the pattern ({error})") from None
        return self


def path_steps(path: str) -> list[str | int | None]:
    """The steps of a path: names, numbers, and None for every item."""
    steps: list[str | int | None] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(f"{path!r} is no path; write names and brackets, as in messages[*].content[0].text")
        name, index = match.groups()
        steps.append(name if name else None if index == "*" else int(index))
        at = match.end()
    if not steps:
        raise ValueError("is empty; name a place in the request, as in messages[*].name")
    return steps
