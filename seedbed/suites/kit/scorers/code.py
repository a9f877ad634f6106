"""A function of the user's own as a scorer: `{name: polite, code: checks.py:polite}`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr, ValidationInfo, model_validator

from seedbed.suite import Case, Metric, Options, PhaseContext, Scored, ScorerSpec
from seedbed.sweep.code import code_version
from seedbed.sweep.code_file import code_files, load_code
from seedbed.sweep.given import given, is_given


class CodeOptions(Options):
    code: str
    """FILE.py:FUNCTION, the file beside the config. The function takes those of `output`, `answer`, `gold`, `inputs`,
    `case` and `context` that it names, and returns a number, a truth, or null where there is none to give."""
    kind: Literal["rate", "mean"] = "mean"
    range: tuple[float, float] | None = (0.0, 1.0)
    """The least and the greatest value; null where there is no end."""
    higher_is_better: bool | None = True
    digits: int = 3
    _function: Callable[..., Any] | None = PrivateAttr(default=None)
    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="after")
    def _load(self, info: ValidationInfo) -> CodeOptions:
        known = info.context or {}
        if self.code.startswith(_FROM_PYTHON):
            # One that another process gave is not needed to read what it scored.
            self._function = given(self._key) if is_given(self._key) else None
        elif known.get("programs", True):
            self._folder = Path(known.get("folder") or ".")
            self._function = load_code(self.code, self._folder)
        else:
            raise ValueError("code: is not run unasked where it came with results of others")
        if self._function is None:
            return self
        unknown = [name for name in _parameters(self.function) if name not in _GIVEN]
        if unknown:
            raise ValueError(f"code: the function asks for {unknown[0]!r}; there are {', '.join(_GIVEN)}")
        return self

    @property
    def function(self) -> Callable[..., Any]:
        return self._function or given(self._key)

    @property
    def own_files(self) -> dict[str, Path]:
        """The file, and those of the user's that it imports, by their names beside the config."""
        return {} if self.code.startswith(_FROM_PYTHON) else code_files(self.code, self._folder)

    @property
    def _key(self) -> str:
        return self.code.removeprefix(_FROM_PYTHON)


_FROM_PYTHON = "python:"
_GIVEN = ("output", "answer", "gold", "inputs", "case", "context")


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and (parameter.default is parameter.empty or name in _GIVEN)
    ]


async def code(context: PhaseContext, case: Case, output: Mapping[str, Any], options: CodeOptions) -> Scored:
    given = {
        "output": output,
        "answer": output.get("answer", next(iter(output.values()), None)),
        "gold": case.gold,
        "inputs": case.inputs,
        "case": case,
        "context": context,
    }
    asked = {name: given[name] for name in _parameters(options.function)}
    if inspect.iscoroutinefunction(options.function):
        value: Any = await options.function(**asked)
    else:
        value = await asyncio.to_thread(options.function, **asked)
    if isinstance(value, Scored):
        return value
    if value is not None and not isinstance(value, int | float):
        raise TypeError(f"{options.code} must return a number, a truth or None, not {type(value).__name__}")
    return Scored({"code": None if value is None else float(value)})


def _metrics(options: CodeOptions) -> tuple[Metric, ...]:
    own = options.code.rpartition(":")[2].partition("@")[0]
    return (Metric("code", own, options.higher_is_better, options.digits, options.kind, options.range),)


def _version(options: CodeOptions) -> str:
    """A key of an object from Python holds its version."""
    return options.code if options.code.startswith(_FROM_PYTHON) else code_version(options.function)


CODE = ScorerSpec(code, _metrics, CodeOptions, version=_version)
