"""Turns a text into a value of the type that an output field asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from seedbed.offline.chance import Chance
from seedbed.offline.prompt import OutputField

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SENTENCE = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟]?")
_AT_LEAST = re.compile(r"greater than(?: or equal to)?: (-?\d+(?:\.\d+)?)")
_AT_MOST = re.compile(r"less than(?: or equal to)?: (-?\d+(?:\.\d+)?)")
_YES = re.compile(r"\b(?:true|yes|correct|supported)\b", re.IGNORECASE)
_NO = re.compile(r"\b(?:false|no|not|wrong|unsupported)\b", re.IGNORECASE)
_DEPTH = 2  # deeper down, what may be empty is left empty: a schema can contain itself
_INDIRECTIONS = 6

Schema = Mapping[str, Any]


def fit(field: OutputField, value: object, chance: Chance) -> object:
    """`value` itself where its type fits the field already, else the nearest value of that type that it suggests."""
    schema = field.schema or _schema_of(field)
    if _fits(value, schema):
        return value
    return _make(schema, value if isinstance(value, str) else str(value), chance, field.name, schema)


def _schema_of(field: OutputField) -> Schema:
    """The schema of a simple type, which DSPy names without spelling it out."""
    if field.choices:
        return {"enum": list(field.choices)}
    numeric = {"int": "integer", "float": "number"}.get(field.type)
    if numeric:
        schema: dict[str, Any] = {"type": numeric}
        if low := _AT_LEAST.search(field.description):
            schema["minimum"] = float(low[1])
        if high := _AT_MOST.search(field.description):
            schema["maximum"] = float(high[1])
        return schema
    return {"type": "boolean" if field.type == "bool" else "string"}


def _fits(value: object, schema: Schema) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    match schema.get("type"):
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return not isinstance(value, str)


def _make(schema: Schema, text: str, chance: Chance, path: str, root: Schema) -> object:
    deep = path.count(".") >= _DEPTH
    schema = _resolve(schema, root, prefer_null=deep)
    if "const" in schema:
        return schema["const"]
    if choices := cast("list[object]", schema.get("enum") or []):
        named = [choice for choice in choices if str(choice).casefold() in text.casefold()]
        return named[0] if named else chance.pick(path, choices)
    match schema.get("type"):
        case "boolean":
            return _yes_or_no(text, chance, path)
        case "integer" | "number":
            return _number(schema, text)
        case "array":
            items = cast(Schema, schema.get("items") or {"type": "string"})
            if deep and not schema.get("minItems") and "$ref" in items:
                return []
            return _list(schema, items, text, chance, path, root)
        case "object":
            properties = cast("dict[str, Schema]", schema.get("properties") or {})
            return {name: _make(part, text, chance, f"{path}.{name}", root) for name, part in properties.items()}
        case "null":
            return None
        case _:
            return text[: int(schema["maxLength"])] if "maxLength" in schema else text


def _resolve(schema: Schema, root: Schema, *, prefer_null: bool) -> Schema:
    for _ in range(_INDIRECTIONS):
        if "$ref" in schema:
            definitions = cast("dict[str, Schema]", root.get("$defs") or {})
            schema = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        elif options := cast("list[Schema]", schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or []):
            wanted = [option for option in options if (option.get("type") == "null") == prefer_null]
            schema = (wanted or options)[0]
        else:
            break
    return schema


def _yes_or_no(text: str, chance: Chance, path: str) -> bool:
    yes, no = bool(_YES.search(text)), bool(_NO.search(text))
    return chance.coin(path) if yes == no else yes


def _number(schema: Schema, text: str) -> int | float:
    low = float(schema.get("minimum", schema.get("exclusiveMinimum", float("-inf"))))
    high = float(schema.get("maximum", schema.get("exclusiveMaximum", float("inf"))))
    found = _NUMBER.search(text.replace(",", ""))
    value = float(found.group()) if found else 0.0
    if not low <= value <= high:
        value = (low + high) / 2 if low > float("-inf") and high < float("inf") else max(low, min(high, value))
    return round(value) if schema.get("type") == "integer" else value


def _list(schema: Schema, items: Schema, text: str, chance: Chance, path: str, root: Schema) -> list[object]:
    parts = [part.strip() for part in _SENTENCE.findall(text) if part.strip()] or [text]
    least = max(1, int(schema.get("minItems", 1)))
    count = max(least, min(len(parts), int(schema.get("maxItems", 5)), 5))
    parts = (parts * count)[:count]
    return [_make(items, part, chance, f"{path}.{i}", root) for i, part in enumerate(parts)]
