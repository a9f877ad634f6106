"""Reading a reply that must be a JSON object of a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True)
class JsonReply:
    """What a reply must be: an object of a schema."""

    schema: Mapping[str, Any]

    @property
    def response_format(self) -> dict[str, Any]:
        """For providers that can hold a model to it."""
        return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(self.schema)}}

    def read(self, text: str) -> dict[str, Any]:
        """The object, or a ValueError that says what is wrong with the reply."""
        found = _object_in(text)
        return self.checked(found)

    def checked(self, found: Any) -> dict[str, Any]:
        import jsonschema

        problem = next(iter(jsonschema.Draft202012Validator(dict(self.schema)).iter_errors(found)), None)
        if problem is not None:
            where = ".".join(str(part) for part in problem.absolute_path) or "the object"
            raise ValueError(f"does not fit the schema: {where}: {problem.message[:200]}")
        return cast("dict[str, Any]", found)


def _object_in(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        raise ValueError("holds no JSON object")
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except ValueError as error:
        raise ValueError(f"holds no valid JSON ({error})") from None
