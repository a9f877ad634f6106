"""Reads the chat messages that DSPy's ChatAdapter and JSONAdapter write back into a signature.

The system message holds the fields, the structure and, last, the objective; user messages hold input values under
`[[ ## name ## ]]` headers; demos are user/assistant pairs before the last user message. Anything else is a plain
prompt: one input, one text to give back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from textwrap import dedent
from typing import Any, Literal, cast

from seedbed.lm.types import JsonDict

Format = Literal["chat", "json", "plain"]

PLAIN_INPUT = "prompt"
PLAIN_OUTPUT = "text"

_INPUTS = "Your input fields are:"
_OUTPUTS = "Your output fields are:"
_STRUCTURE = "All interactions will be structured in the following way"
_JSON_STRUCTURE = "Outputs will be a JSON object with the following fields."
_OBJECTIVE = "In adhering to this structure, your objective is:"
_REQUIREMENTS = re.compile(
    r"(?:^|\n\n)Respond with "
    r"(?:the corresponding output fields, starting with the field|a JSON object in the following order)"
)
_FIELD = re.compile(r"^(\d+)\. `([^`]+)` \((.*?)\):(.*)$")
_HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*", re.MULTILINE)
_NOTE = "# note: the value you produce "
_SCHEMA_NOTE = "must adhere to the JSON schema: "
_CHOICE_NOTE = re.compile(r"must (?:exactly match \(no extra characters\) one of|be one of): ")
_NOT_SUPPLIED = "Not supplied for this particular example."


@dataclass(frozen=True, slots=True)
class OutputField:
    """A field to fill. `schema` and `choices` are there where DSPy spells them out in the structure."""

    name: str
    type: str = "str"
    description: str = ""
    schema: Mapping[str, Any] | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Demo:
    """A worked example; fields that the example leaves out are missing."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a request asks for."""

    instructions: str
    inputs: Mapping[str, str]
    output_fields: tuple[OutputField, ...]
    demos: tuple[Demo, ...] = ()
    format: Format = "chat"


@dataclass(frozen=True, slots=True)
class _Signature:
    instructions: str
    inputs: tuple[str, ...]
    outputs: tuple[OutputField, ...]
    format: Format


def parse(body: JsonDict) -> Prompt:
    """Never raises on odd messages: what is not DSPy's format is read as a plain prompt."""
    messages = [(str(m.get("role", "")), text_of(m)) for m in body.get("messages") or ()]
    system = "\n\n".join(text for role, text in messages if role in ("system", "developer"))
    turns = [(role, text) for role, text in messages if role in ("user", "assistant")]
    last = max((i for i, (role, _) in enumerate(turns) if role == "user"), default=-1)
    current = turns[last][1] if last >= 0 else ""
    signature = _signature(system)
    if signature is None:
        results = [text for role, text in messages if role == "tool"]
        if results and current:  # what tools said is there to be read
            current = f"Context: {' '.join(results)}\n\nQuestion: {current}"
        output = OutputField(PLAIN_OUTPUT, schema=_wanted_schema(body))
        return Prompt(system, {PLAIN_INPUT: current}, (output,), _plain_demos(turns[:last]), "plain")
    values = _sections(_without_requirements(current), signature.inputs)
    return Prompt(
        instructions=signature.instructions,
        inputs={name: values.get(name, "") for name in signature.inputs},
        output_fields=signature.outputs,
        demos=_demos(turns[:last], signature),
        format="json" if body.get("response_format") else signature.format,
    )


def _wanted_schema(body: JsonDict) -> Mapping[str, Any] | None:
    """The schema that the reply to a plain prompt is held to, where the request has one."""
    wanted: Any = body.get("response_format")
    told: Any = wanted.get("json_schema") if isinstance(wanted, dict) else None
    return told.get("schema") if isinstance(told, dict) else None


def _plain_demos(turns: Sequence[tuple[str, str]]) -> tuple[Demo, ...]:
    return tuple(
        Demo({PLAIN_INPUT: asked}, {PLAIN_OUTPUT: answered})
        for (role, asked), (next_role, answered) in pairwise(turns)
        if (role, next_role) == ("user", "assistant")
    )


def text_of(message: JsonDict) -> str:
    """The text of a message, whether its content is a string or a list of parts."""
    return _text(message.get("content"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = cast("list[object]", content)
        return "\n".join(_text(cast(JsonDict, part).get("text")) for part in parts if isinstance(part, dict))
    return ""


@lru_cache(maxsize=256)  # a sweep sends thousands of requests with a handful of system messages
def _signature(system: str) -> _Signature | None:
    head, found, rest = system.partition(_STRUCTURE)
    declared_inputs, also_found, declared_outputs = head.partition(_OUTPUTS)
    if not found or not also_found:
        return None
    structure, _, objective = rest.partition(_OBJECTIVE)
    is_json = _JSON_STRUCTURE in structure
    notes = _json_notes(structure) if is_json else _sections(structure, None)
    outputs = tuple(
        _output_field(name, type_, description, notes.get(name, ""))
        for name, type_, description in _declared(declared_outputs)
    )
    inputs = tuple(name for name, _, _ in _declared(declared_inputs.partition(_INPUTS)[2]))
    return _Signature(dedent(objective.strip("\n")).strip(), inputs, outputs, "json" if is_json else "chat")


def _declared(block: str) -> list[tuple[str, str, str]]:
    """(name, type, description) of each numbered field; a description may run over several lines."""
    fields: list[tuple[str, str, str]] = []
    for line in block.strip().splitlines():
        match = _FIELD.match(line)
        if match and int(match[1]) == len(fields) + 1:
            fields.append((match[2], match[3], match[4].strip()))
        elif fields:
            name, type_, description = fields[-1]
            fields[-1] = (name, type_, f"{description}\n{line.strip()}".strip())
    return fields


def _output_field(name: str, type_: str, description: str, value: str) -> OutputField:
    note = value.partition(_NOTE)[2].strip()
    if note.startswith(_SCHEMA_NOTE):
        schema = _json_object(note.removeprefix(_SCHEMA_NOTE))
        return OutputField(name, type_, description, schema=schema)
    if match := _CHOICE_NOTE.match(note):
        return OutputField(name, type_, description, choices=tuple(note[match.end() :].split("; ")))
    return OutputField(name, type_, description)


def _json_notes(structure: str) -> dict[str, str]:
    block = _json_object(structure.partition(_JSON_STRUCTURE)[2]) or {}
    return {name: str(value) for name, value in block.items()}


def _json_object(text: str) -> JsonDict | None:
    """The first JSON object in the text."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return None
    return cast(JsonDict, value)


def _sections(text: str, names: Sequence[str] | None) -> dict[str, str]:
    """Values under their headers.

    With `names`, headers must come in that order and once each: a document that quotes the format of a prompt does
    not restart a field that has been read already.
    """
    marks: list[tuple[str, int, int]] = []
    position = 0
    for match in _HEADER.finditer(text):
        name = match[1]
        if names is not None:
            if name not in names[position:]:
                continue
            position = names.index(name, position) + 1
        marks.append((name, match.start(), match.end()))
    starts = [start for _, start, _ in marks] + [len(text)]
    return {name: text[begin:end].strip() for (name, _, begin), end in zip(marks, starts[1:], strict=True)}


def _without_requirements(text: str) -> str:
    """Drops the closing "Respond with ..." paragraph: the last one, since an input may hold the same words."""
    found = list(_REQUIREMENTS.finditer(text))
    return text[: found[-1].start()] if found else text


def _demos(turns: Sequence[tuple[str, str]], signature: _Signature) -> tuple[Demo, ...]:
    demos: list[Demo] = []
    for (role, asked), (next_role, answered) in pairwise(turns):
        if (role, next_role) != ("user", "assistant"):
            continue
        outputs = _sections(answered, [f.name for f in signature.outputs] + ["completed"])
        if not outputs:
            outputs = {name: _as_text(value) for name, value in (_json_object(answered) or {}).items()}
        outputs.pop("completed", None)
        supplied = {name: value for name, value in outputs.items() if value.strip() != _NOT_SUPPLIED}
        demos.append(Demo(_sections(_without_requirements(asked), signature.inputs), supplied))
    return tuple(demos)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
