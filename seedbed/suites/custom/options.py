"""What a config may say of a benchmark and of a system of the suite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from seedbed.suite import Benchmark, BenchmarkOptions, Options
from seedbed.suites.custom.command_options import CommandOptions
from seedbed.suites.custom.template import columns_in, parts_of
from seedbed.sweep.given import given, is_given
from seedbed.sweep.registry import nearest
from seedbed.sweep.repeats import RepeatsOption

_FIELD = re.compile(r"\s*([A-Za-z_]\w*)\s*(?::.*)?", re.DOTALL)
_ANY_COLUMN = "choices"
"""What a template may name beside columns."""


class Sampling(Options):
    n: int = Field(ge=1)
    """So many cases, or all where there are no more."""
    seed: int = 0


class Splitting(Options):
    by: str | None = None
    """The column that says train, val or test."""
    train: float = Field(default=0.3, ge=0, lt=1)
    val: float = Field(default=0.3, ge=0, lt=1)
    """Shares of the cases, shuffled; the rest is test. Cases of one cluster stay together."""
    seed: int = 0

    @model_validator(mode="after")
    def _leave_some_for_the_test(self) -> Splitting:
        if self.train + self.val >= 1:
            raise ValueError(f"train and val take {self.train + self.val:g} of the cases; leave a share for the test")
        return self


class Condition(Options):
    """What the value of a column must be; all that is given must hold."""

    min: float | None = None
    max: float | None = None
    contains: str | None = None
    matches: str | None = None
    """A regular expression that is found somewhere in the value."""
    is_not: str | list[str] | None = Field(default=None, alias="not")

    @field_validator("matches")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return value if value is None else checked_pattern(value)


class CaseOptions(BenchmarkOptions):
    """A file of cases: csv, tsv, jsonl, json, parquet, or a folder of text files."""

    inputs: list[str] | dict[str, str] | None = None
    """Columns that systems are given, or NEW_NAME: COLUMN; null takes all that nothing else takes."""
    images: str | list[str] | None = None
    """Columns among the inputs that hold paths of images, from the folder of the cases; models are sent the images."""
    answer: str | list[str] | None = None
    """The column with the right answer; of several columns, each answer is accepted."""
    separator: str | None = Field(default=None, min_length=1)
    """What parts several accepted answers in one cell, for example '|'."""
    id: str | None = None
    """The column with a name for the case; null takes `id` where there is one, else the number of the row."""
    cluster: str | None = None
    """The column that says which cases stand or fall together."""
    where: dict[str, Condition | bool | int | float | str | list[bool | int | float | str]] = Field(
        default_factory=dict[str, Any]
    )
    """Only rows in which each of these columns has this value, or one of these, or meets the condition."""
    sample: Sampling | None = None
    """Draw so many of them, the same ones every time, from all over the file."""
    split: Splitting | bool = False
    """Parts for optimizers and worked examples; true is 30% train, 30% val, 40% test."""
    repeats: RepeatsOption | None = None
    """Ask every test case so many times: 5, or {n: 5, k: [1, 3]}; rates then have pass@k and pass^k too."""

    @field_validator("inputs", "images", "answer")
    @classmethod
    def _not_empty(cls, value: Any) -> Any:
        if value is not None and not value:
            raise ValueError("is empty; name at least one column or leave the field out")
        return value


class PromptOptions(CommandOptions):
    """A prompt as a template, a signature for DSPy, or a program."""

    prompt: str | None = None
    """A template: {COLUMN} stands for the case's value, {{WORD}} for {WORD} itself."""
    file: str | None = None
    """The file of a long template; lines [system] and [user] begin its parts."""
    system: str | None = None
    """The system message, a template too. An optimizer rewrites it where there is one, else the prompt."""
    signature: str | None = None
    """Inputs and outputs for DSPy: "country -> capital"."""
    python: str | None = None
    """The key of a function or module that a Python program gave (`seedbed.Experiment`)."""
    module: Literal["predict", "cot"] = "predict"
    """Of a signature: ask at once, or let the model think first."""
    instructions: str | None = None
    """Of a signature: what the model is told to do."""
    answer: str | None = None
    """The output that is scored; null takes `answer`, else the last one."""
    examples: int = Field(default=0, ge=0)
    """Worked examples put before the case, drawn from the train split by the seed of the cell."""
    choices: list[str] | None = Field(default=None, min_length=2)
    """The answers there are; {choices} in a prompt lists them."""
    json_schema: dict[str, Any] | None = None
    """The answer is a JSON object of this schema; its fields are outputs."""

    @classmethod
    def read_files(cls, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        read = super().read_files(given, folder)
        name = read.get("file")
        if not isinstance(name, str):
            return read
        if read.get("prompt") is not None:
            raise ValueError("has both prompt: and file:; leave one out.")
        try:
            text = (folder / name).read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else "it is no UTF-8 text"
            raise ValueError(
                f"file: {name!r} cannot be read ({said}); paths are taken from the config's folder."
            ) from None
        parts = parts_of(text)
        if parts.system is not None and read.get("system") is not None:
            raise ValueError(f"file: {name!r} has a [system] part, and system: stands beside it; leave one out.")
        del read["file"]
        return {**read, "prompt": parts.user, **({} if parts.system is None else {"system": parts.system})}

    @model_validator(mode="after")
    def _one_way_to_ask(self) -> PromptOptions:
        if sum(way is not None for way in (self.prompt, self.signature, self.python, self.command)) != 1:
            raise ValueError(
                'give one of prompt: "... {column} ..." (or file:), signature: "column -> answer", command: [PROGRAM]'
            )
        if self.command is not None and (foreign := self.model_fields_set - CommandOptions.model_fields.keys()):
            raise ValueError(f"{sorted(foreign)[0]} does not belong to a command; say it in the program")
        if self.python is not None and self.model_fields_set - {"python", "answer"}:
            raise ValueError("an object from Python takes no options but answer; say them in its code")
        if self.prompt is not None and (self.instructions is not None or self.module != "predict"):
            raise ValueError("instructions and module belong to a signature; write them into the prompt")
        if self.signature is not None and self.system is not None:
            raise ValueError("system belongs to a prompt; a signature has instructions")
        if self.choices is not None and self.json_schema is not None:
            raise ValueError("choices and json_schema cannot both say what the answer is; leave one out")
        if self.choices is not None and len({choice.casefold() for choice in self.choices}) < len(self.choices):
            raise ValueError("the same choice stands twice in choices")
        return self

    @field_validator("prompt")
    @classmethod
    def _says_something(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("is empty; write the text that is sent, with {column} for the case's values")
        return value

    @field_validator("json_schema")
    @classmethod
    def _of_an_object(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and (value.get("type") != "object" or not value.get("properties")):
            raise ValueError("must be the schema of an object: {type: object, properties: {...}}")
        return value

    @field_validator("signature")
    @classmethod
    def _of_fields(cls, value: str | None) -> str | None:
        if value is not None:
            signature_fields(value)
        return value

    @property
    def template_columns(self) -> list[str]:
        """Columns that the templates name."""
        return [name for name in columns_in(f"{self.system or ''}\n{self.prompt or ''}") if name != _ANY_COLUMN]

    def misfit(self, benchmark: Benchmark) -> tuple[str, str] | None:
        known = list(benchmark.test[0].inputs)
        if self.examples and len(benchmark.train) < self.examples:
            return (
                "examples",
                f"wants {self.examples}, and the train split has {len(benchmark.train)}; set `split: true`.",
            )
        if self.command is not None:
            return None
        if self.python is not None:
            asked, field = _asked_by(self.python), "python"
        elif self.signature is not None:
            asked, field = signature_fields(self.signature)[0], "signature"
        else:
            asked, field = self.template_columns, "prompt"
            if not asked:
                return (
                    field,
                    f"names no column; write {{{known[0]}}} where its value is to stand. Known: {', '.join(known)}.",
                )
        wrong = next((name for name in asked if name not in known), None)
        return None if wrong is None else (field, f"there is no input {wrong!r}; {nearest(wrong, known)}")


def _asked_by(key: str) -> list[str]:
    """Inputs that an object from Python needs; unknown of one that another process gave."""
    if not is_given(key):
        return []
    from seedbed.suites.custom.python_systems import asked_inputs

    return asked_inputs(given(key))[0]


def signature_fields(text: str) -> tuple[list[str], list[str]]:
    """Names of the inputs and the outputs of "a, b -> c: list[str]"."""
    left, arrow, right = text.partition("->")
    sides = [[_FIELD.fullmatch(part) for part in _parts(side)] for side in (left, right)]
    if not arrow or not all(side and all(side) for side in sides):
        raise ValueError(
            'is no signature; write it as "input, input -> output", each a word with a type behind it or not'
        )
    inputs, outputs = ([match[1] for match in side if match] for side in sides)
    return inputs, outputs


def _parts(side: str) -> list[str]:
    """Split at commas that stand in no brackets."""
    depth, parts = 0, [""]
    for char in side:
        depth += (char in "[(") - (char in "])")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def checked_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression ({error})") from None
    return text
