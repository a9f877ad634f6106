"""What a config may say of a system that is a program."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from seedbed.storage.hashing import hash_file
from seedbed.suite import Options

PYTHON = "{python}"
_OF_COMMANDS = ("kind", "timeout_s", "processes", "files", "code", "calls_per_case")


class CommandOptions(Options):
    """A program of any language: inputs of a case in, an answer out, its calls by the gateway."""

    NOT_RESULTS: ClassVar[frozenset[str]] = frozenset({"processes"})

    command: list[str] | None = Field(default=None, min_length=1)
    """A program that answers a case: its inputs come as JSON on stdin, its answer is what it prints, a JSON object or a
    text. It is started in the config's folder; {python} is the Python that runs Seedbed."""
    kind: Literal["program", "server"] = "program"
    """Of a command: started for every case, or kept running and asked by lines of JSON."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Of a command: how long a case may take before the program and all it started is killed."""
    processes: int = Field(default=8, ge=1)
    """Of a command: programs at once, in a cell."""
    files: list[str] = Field(default_factory=list)
    """Of a command: files and patterns (lib/*.js) that it is made of, beside those that it names; where one changes,
    the cases are asked again."""
    code: dict[str, str] = Field(default_factory=dict)
    """Of a command: the hashes of those files, filled in when the sweep is planned."""
    calls_per_case: float = Field(default=1.0, ge=0)
    """Of a command: about how many calls of a model a case takes; 0 where it calls none."""

    _folder: Path | None = PrivateAttr(default=None)

    @property
    def starts_programs(self) -> bool:
        return self.command is not None

    @property
    def declared_calls(self) -> float | None:
        return self.calls_per_case if self.command is not None else None

    @property
    def folder(self) -> Path:
        """Where it is started."""
        if self._folder is None:
            raise PermissionError("a program that came with results is run only with --trust-plugins: read it first")
        return self._folder

    @property
    def words(self) -> list[str]:
        """The command with its program in full."""
        assert self.command is not None
        return [_found(self.command[0], self.folder), *self.command[1:]]

    @field_validator("command", mode="before")
    @classmethod
    def _as_words(cls, value: Any) -> Any:
        return shlex.split(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _of_a_command(self, info: ValidationInfo) -> CommandOptions:
        known = info.context or {}
        if known.get("programs", True):
            self._folder = Path(known.get("folder") or ".")
        given = [name for name in _OF_COMMANDS if name in self.model_fields_set and getattr(self, name)]
        if self.command is None and given:
            raise ValueError(f"{given[0]} belongs to a command; give command: [PROGRAM, ARGUMENT, ...]")
        return self

    @classmethod
    def read_files(cls, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        read = dict(given)
        command = cls._as_words(read.get("command"))
        if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
            return read
        _found(command[0], folder)
        named = [word for word in command if (folder / word).is_file() and not Path(word).is_absolute()]
        for pattern in read.get("files") or ():
            matching = [path for path in sorted(folder.glob(str(pattern))) if path.is_file()]
            if not matching:
                raise ValueError(f"files: no file is {str(pattern)!r}; paths are taken from the config's folder.")
            named += [path.relative_to(folder).as_posix() for path in matching]
        return {**read, "command": command, "code": {name: hash_file(folder / name) for name in sorted(set(named))}}


def _found(program: str, folder: Path) -> str:
    if program == PYTHON:
        return sys.executable
    if "/" in program:
        path = (folder / program).resolve()
        if not path.is_file():
            raise ValueError(f"command: there is no program {program!r}; paths are taken from the config's folder.")
        return str(path)
    found = shutil.which(program)
    if found is None:
        raise ValueError(f"command: the program {program!r} is not on the PATH; install it or write its path.")
    return found
