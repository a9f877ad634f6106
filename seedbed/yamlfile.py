"""YAML with a memory for lines, so that an error can say where."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from seedbed.errors import UserError

FieldPath = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlFile:
    """The plain data of a YAML file and the line of every field in it."""

    path: Path
    data: Any
    lines: dict[FieldPath, int]
    overrides: dict[FieldPath, str] = field(default_factory=dict[FieldPath, str])

    def where(self, location: FieldPath) -> str:
        """File, line and field as a reader would look for them."""
        for length in range(len(location), -1, -1):
            prefix = location[:length]
            if prefix in self.overrides:
                return f"--set {self.overrides[prefix]}: field {dotted(location)}"
            if prefix in self.lines and length > 0:
                return f"{self.path}:{self.lines[prefix]}: field {dotted(location)}"
        return f"{self.path}: field {dotted(location)}" if location else f"{self.path}"

    def error(self, location: FieldPath, message: str) -> UserError:
        return UserError(f"{self.where(location)}: {message}")


def dotted(location: FieldPath) -> str:
    return ".".join(str(part) for part in location)


def read_yaml(path: Path, overrides: list[str] | None = None) -> YamlFile:
    """Read a file and apply `--set a.b.0.c=value` overrides, whose values are YAML themselves."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give the path of a sweep's YAML file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error}).") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{path}:{line}: not valid YAML ({error.problem}); mend the indentation or quotes.") from None
    if not isinstance(data, dict):
        raise UserError(f"{path}: a sweep is a YAML mapping that starts with 'name:'.")
    lines: dict[FieldPath, int] = {}
    if node is not None:
        _collect(node, (), lines, path)
    applied = {_apply(data, item): item for item in overrides or []}
    return YamlFile(path, data, lines, applied)


def _collect(node: yaml.Node, at: FieldPath, lines: dict[FieldPath, int], path: Path) -> None:
    lines[at] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                # YAML lets the last one win, which would drop what the user wrote above without a word.
                raise UserError(
                    f"{path}:{key.start_mark.line + 1}: field {dotted((*at, name))}: written twice; remove one."
                )
            seen.add(name)
            _collect(value, (*at, name), lines, path)
            lines[(*at, name)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _collect(value, (*at, index), lines, path)


def _apply(data: Any, override: str) -> FieldPath:
    name, separator, text = override.partition("=")
    if not separator or not name:
        raise UserError(f"--set {override}: write it as field.path=value, for example --set seeds=[0].")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UserError(f"--set {override}: the value is not valid YAML; quote it.") from None
    parts: list[str | int] = [int(p) if p.isdigit() else p for p in name.split(".")]
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
