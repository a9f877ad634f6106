"""Sends a template as it is written, and takes the reply as it comes: DSPy's own formats put words around both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import dspy
from dspy.utils.exceptions import AdapterParseError

from seedbed.suites.custom.replies import JsonReply
from seedbed.suites.custom.template import as_text, columns_in, content, fill
from seedbed.suites.kit.choices import choice_of


class TemplateAdapter(dspy.Adapter):
    """The signature's instructions are the template, so that an optimizer that rewrites instructions rewrites the
    user's own prompt: its system part where it has one (`user` is then the other part), else all of it."""

    def __init__(
        self, user: str | None, columns: Sequence[str], choices: Sequence[str], reply: JsonReply | None
    ) -> None:
        super().__init__()
        self._user = user
        self._columns = columns
        self._choices = choices
        self._reply = reply

    def format(self, signature: type[Any], demos: list[dict[str, Any]], inputs: dict[str, Any]) -> list[dict[str, Any]]:
        system = signature.instructions if self._user is not None else None
        user = signature.instructions if self._user is None else self._user
        answer = next(iter(signature.output_fields))
        messages: list[dict[str, Any]] = []
        if system is not None:
            messages.append({"role": "system", "content": fill(system, self._values(inputs))})
        for demo in demos:
            # One that lacks a field would teach the model to leave it out.
            if answer in demo and all(name in demo for name in self._columns):
                messages.append({"role": "user", "content": self._asked(user, system, demo)})
                messages.append({"role": "assistant", "content": as_text(demo[answer])})
        messages.append({"role": "user", "content": self._asked(user, system, inputs)})
        return messages

    def parse(self, signature: type[Any], completion: str) -> dict[str, Any]:
        answer = next(iter(signature.output_fields))
        if self._reply is not None:
            try:
                return {answer: self._reply.read(completion)}
            except ValueError as error:
                raise AdapterParseError(type(self).__name__, cast(Any, signature), completion, str(error)) from None
        return {answer: choice_of(completion, self._choices) if self._choices else completion.strip()}

    def _asked(self, user: str, system: str | None, values: Mapping[str, Any]) -> str | list[dict[str, Any]]:
        """The user's part. What an optimizer has dropped from the template stands below it: no case loses a value."""
        named = {*columns_in(user), *columns_in(system or "")}
        lost = [f"{name}: {as_text(values[name])}" for name in self._columns if name not in named and name in values]
        asked = content(user, self._values(values))
        if not lost:
            return asked
        below = "\n".join(lost)
        return f"{asked}\n\n{below}" if isinstance(asked, str) else [*asked, {"type": "text", "text": below}]

    def _values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**({"choices": ", ".join(self._choices)} if self._choices else {}), **values}
