"""DSPy's chat adapter, word for word, without doing the same work for every case.

For each call DSPy describes the signature anew and builds a pydantic adapter for every value. That is half of what a
call costs in all; the description changes only with the signature, and a text needs no adapter.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import dspy

from seedbed.lm.compat.dspy import FIELD_TYPE


class QuickChatAdapter(dspy.ChatAdapter):
    """Gives the same messages as `dspy.ChatAdapter`. A model whose settings name another form is asked in that."""

    def __init__(self) -> None:
        super().__init__()
        self._described: WeakKeyDictionary[type[Any], tuple[Any, str]] = WeakKeyDictionary()

    def __call__(self, lm: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        other = _other_form(lm)
        return super().__call__(lm, *args, **kwargs) if other is None else other(lm, *args, **kwargs)

    async def acall(self, lm: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        other = _other_form(lm)
        return await (super().acall if other is None else other.acall)(lm, *args, **kwargs)

    def format_system_message(self, signature: type[Any]) -> str:
        state = _state(signature)
        found = self._described.get(signature)
        # Optimizers make new signatures, but nothing keeps code from changing one in place.
        if found is None or found[0] != state:
            found = self._described[signature] = (state, super().format_system_message(signature))
        return found[1]

    def format_user_message_content(
        self,
        signature: type[Any],
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        given = [(name, inputs[name]) for name in signature.input_fields if name in inputs]
        if any(type(value) is not str for _, value in given):
            return super().format_user_message_content(signature, inputs, prefix, suffix, main_request)
        parts = [prefix, *(f"[[ ## {name} ## ]]\n{value}" for name, value in given)]
        if main_request:
            parts.append(self.user_message_output_requirements(signature))
        return "\n\n".join([*parts, suffix]).strip()

    def parse(self, signature: type[Any], completion: str) -> dict[str, Any]:
        # The property is worked out anew for every line of the answer; this is all that is asked of the signature.
        fields: Any = SimpleNamespace(output_fields=signature.output_fields)
        try:
            return super().parse(fields, completion)
        except dspy.AdapterParseError:
            # Once more for an error that names the signature.
            return super().parse(signature, completion)

    def __deepcopy__(self, memo: dict[int, Any]) -> QuickChatAdapter:
        return self


@lru_cache(maxsize=1)
def quick_adapter() -> QuickChatAdapter:
    """The one adapter of the process, for `dspy.context(adapter=...)`."""
    return QuickChatAdapter()


@lru_cache(maxsize=1)
def _other_forms() -> Mapping[str, dspy.Adapter]:
    return {"json": dspy.JSONAdapter(), "xml": dspy.XMLAdapter()}


def _other_form(lm: Any) -> dspy.Adapter | None:
    return _other_forms().get(getattr(lm, "adapter", "chat"))


def _state(signature: type[Any]) -> tuple[Any, ...]:
    fields = tuple(
        (name, field.annotation, (extra := field.json_schema_extra or {}).get("desc"), extra.get(FIELD_TYPE))
        for name, field in signature.fields.items()
    )
    return signature.instructions, fields
