"""YAML with a memory for lines, so that an error can say where; of plain data only, and of a size that can be meant."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from seedbed.errors import UserError

FieldPath = tuple[str | int, ...]

_MAX_BYTES = 10_000_000
_MAX_DEPTH = 50
_MAX_FIELDS = 100_000
"""Of a config with its aliases written out: a few lines of them can stand for more than fits into memory."""
_MAX_INTEGER = 2**63
_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null", "value")}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class YamlFile:
    """The plain data of a YAML file and the line of every field in it."""

    path: Path
    data: Any
    lines: dict[FieldPath, int]
    overrides: dict[FieldPath, str] = field(default_factory=dict[FieldPath, str])
    origins: dict[FieldPath, FieldPath] = field(default_factory=dict[FieldPath, FieldPath])
    """Where fields that were made from others were written."""

    def where(self, location: FieldPath) -> str:
        """File, line and field as a reader would look for them."""
        location = self._written(location)
        prefixes = [location[:length] for length in range(len(location), 0, -1)]
        # What was set replaces all that is written below it.
        for prefix in prefixes:
            if prefix in self.overrides:
                return f"--set {self.overrides[prefix]}: field {dotted(location)}"
        for prefix in prefixes:
            if prefix in self.lines:
                return f"{self.path}:{self.lines[prefix]}: field {dotted(location)}"
        return f"{self.path}: field {dotted(location)}" if location else f"{self.path}"

    def _written(self, location: FieldPath) -> FieldPath:
        made = next((location[:n] for n in range(len(location), 0, -1) if location[:n] in self.origins), None)
        return location if made is None else (*self.origins[made], *location[len(made) :])

    def error(self, location: FieldPath, message: str) -> UserError:
        return UserError(f"{self.where(location)}: {message}")


def dotted(location: FieldPath) -> str:
    return ".".join(str(part) for part in location)


def read_yaml(
    path: Path, overrides: list[str] | None = None, *, shape: str = "a sweep is a YAML mapping that starts with 'name:'"
) -> YamlFile:
    """Read a mapping and apply `--set a.b.0.c=value` overrides, whose values are YAML themselves. `shape` says what the
    file should be, for messages."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UserError(f"{path}: larger than {_MAX_BYTES // 1_000_000} MB; {shape}.")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give the path of a sweep's YAML file.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{str(path)[:200]!r}: cannot be read ({error}).") from None
    data, lines = _load(text, lambda line, message: UserError(f"{path}:{line}: {message}"))
    if not isinstance(data, dict):
        raise UserError(f"{path}: {shape}.")
    applied = {_apply(data, item): item for item in overrides or []}
    return YamlFile(path, data, lines, applied)


Refuse = Callable[[int, str], UserError]
"""Line and message -> the error."""


def _load(text: str, refuse: Refuse) -> tuple[Any, dict[FieldPath, int]]:
    lines: dict[FieldPath, int] = {}
    try:
        _check_depth(text, refuse)
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None, lines
        _check_size(node, refuse)
        return _Reader(loader, lines, refuse).plain(node, ()), lines
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise refuse(line, f"not valid YAML ({error.problem}); mend the indentation or quotes.") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise refuse(line, f"holds the character {error.character!r}, which YAML does not allow; remove it.") from None


class _Loader(yaml.SafeLoader):
    """Knows no dates: they have no place in JSON, where a plan is kept, and a version such as 2024-01-01 is a name."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _check_depth(text: str, refuse: Refuse) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise refuse(event.start_mark.line + 1, f"nested more than {_MAX_DEPTH} deep; a config is not.")


def _check_size(root: yaml.Node, refuse: Refuse) -> None:
    """Count the fields as if every alias were written out, without writing them out."""
    counted: dict[int, int] = {}
    inside: set[int] = set()

    def count(node: yaml.Node) -> int:
        if id(node) in inside:
            raise refuse(node.start_mark.line + 1, "an alias stands inside what it names; write it out.")
        if id(node) not in counted:
            inside.add(id(node))
            parts: list[yaml.Node] = []
            if isinstance(node, yaml.SequenceNode):
                parts = node.value
            elif isinstance(node, yaml.MappingNode):
                parts = [part for pair in node.value for part in pair]
            counted[id(node)] = 1 + sum(map(count, parts))
            inside.discard(id(node))
        if counted[id(node)] > _MAX_FIELDS:
            raise refuse(node.start_mark.line + 1, f"stands for more than {_MAX_FIELDS} fields; use fewer aliases.")
        return counted[id(node)]

    count(root)


@dataclass(frozen=True)
class _Reader:
    """Turns nodes into what JSON can hold, noting the line of every field."""

    loader: _Loader
    lines: dict[FieldPath, int]
    refuse: Refuse

    def plain(self, node: yaml.Node, at: FieldPath) -> Any:
        self.lines.setdefault(at, node.start_mark.line + 1)
        if node.tag not in _TAGS:
            named = f"field {dotted(at)}: " if at else ""
            raise self.refuse(
                node.start_mark.line + 1,
                f"{named}the tag {node.tag} is not for configs; write text, a number or a list.",
            )
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, at)
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(value, (*at, index)) for index, value in enumerate(node.value)]
        return self._scalar(node, at)

    def _mapping(self, node: yaml.MappingNode, at: FieldPath) -> dict[str, Any]:
        own = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        self.loader.flatten_mapping(node)
        found: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise self.refuse(line, f"field {dotted(at)}: a name is a word, not a list or a mapping.")
            # As it is written: `on` and `1` are names here, not a truth and a number.
            name = str(key.value)
            if own.count(name) > 1:
                # YAML lets the last one win, which would drop what the user wrote above without a word.
                again = [k.start_mark.line + 1 for k, _ in node.value if k.value == name][-1]
                raise self.refuse(again, f"field {dotted((*at, name))}: written twice; remove one.")
            self._check_text(name, line, at)
            self.lines[(*at, name)] = line
            found[name] = self.plain(value, (*at, name))
        return found

    def _scalar(self, node: yaml.Node, at: FieldPath) -> Any:
        line, named = node.start_mark.line + 1, f"field {dotted(at)}: " if at else ""
        try:
            value = self.loader.construct_object(node)
        except (ValueError, OverflowError, IndexError, KeyError, TypeError) as error:
            raise self.refuse(line, f"{named}cannot be read ({error}); put it into quotes.") from None
        if isinstance(value, str):
            self._check_text(value, line, at)
        elif isinstance(value, int) and abs(value) >= _MAX_INTEGER:
            raise self.refuse(line, f"{named}a number of {len(str(node.value))} digits is too large.")
        elif isinstance(value, float) and math.isnan(value):
            raise self.refuse(line, f"{named}is not a number; leave the field out where there is no value.")
        return value

    def _check_text(self, text: str, line: int, at: FieldPath) -> None:
        if (found := _CONTROL.search(text)) is not None:
            raise self.refuse(line, f"field {dotted(at)}: holds the character {found.group()!r}; remove it.")


def _apply(data: Any, override: str) -> FieldPath:
    name, separator, text = override.partition("=")
    if not separator or not name:
        raise UserError(f"--set {override}: write it as field.path=value, for example --set seeds=[0].")
    value, _ = _load(text, lambda _, message: UserError(f"--set {override!r}: {message}"))
    parts: list[str | int] = [int(p) if p.isdecimal() and len(p) < 10 else p for p in name.split(".")]
    target = data
    for depth, part in enumerate(parts[:-1]):
        target = _step(target, part, override, dotted(tuple(parts[: depth + 1])))
    last = parts[-1]
    if isinstance(target, list):
        if not isinstance(last, int) or last >= len(target):
            raise UserError(f"--set {override}: {dotted(tuple(parts))} is not in the list of {len(target)} items.")
        target[last] = value
    elif isinstance(target, dict):
        target[str(last)] = value
    else:
        raise UserError(f"--set {override}: {dotted(tuple(parts[:-1]))} has no fields.")
    return tuple(parts)


def _step(target: Any, part: str | int, override: str, name: str) -> Any:
    if isinstance(target, list) and isinstance(part, int) and part < len(target):
        return target[part]
    if isinstance(target, dict) and isinstance(part, str):
        # A section that is left out has its defaults; a name that is none is found when the config is checked.
        found = target.get(part)
        if found is None:
            target[part] = found = {}
        return found
    raise UserError(f"--set {override}: there is no {name} in the config.")
