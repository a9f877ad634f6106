"""`seedbed score SUITE FILE`: scores answers made elsewhere."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import PydanticUndefined

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.storage.paths import local_path
from seedbed.suite import Options, ScoreFile, Suite, resolve
from seedbed.suites.kit.score_file import result_folder
from seedbed.sweep.registry import get_suite, nearest, suite_names

_USAGE = "usage: seedbed score {suite} FILE [--out DIR] [--OPTION VALUE ...]"
_OUT = (
    "Where scores go (default: beside the file). Where results of another file lie there, they go into a folder of "
    "their own in it, FILE_scores."
)


def run(arguments: argparse.Namespace) -> int:
    if arguments.help:
        print(_help(arguments.suite))
        return EXIT_OK
    if arguments.suite is None or arguments.file is None:
        raise UserError(f"{_USAGE.format(suite=arguments.suite or 'SUITE')}; more with --help.")
    suite = get_suite(arguments.suite)
    score_file = _score_file(suite)
    options = _options(suite, _pairs(arguments.rest))
    out = local_path(arguments.out, "--out") if arguments.out else None
    with result_folder(Path(arguments.file), out) as folder:
        print(score_file(Path(arguments.file), folder, options))
    return EXIT_OK


def _score_file(suite: Suite) -> ScoreFile:
    if suite.score_file is None:
        raise UserError(f"suite {suite.name!r} cannot score a file on its own; run it in a sweep.")
    return resolve(suite.score_file)


def _options(suite: Suite, given: dict[str, str]) -> Options:
    kind = resolve(suite.score_file_options)
    for name in given:
        if name not in kind.model_fields:
            raise UserError(
                f"--{name}: not an option of `seedbed score {suite.name}`; {nearest(name, kind.model_fields)}"
            )
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"--{first['loc'][0]}: {first['msg']} (got {first['input']!r}).") from None


def _pairs(rest: list[str]) -> dict[str, str]:
    """`--name value` and `--name=value`, as the suite's options."""
    found: dict[str, str] = {}
    words = iter(rest)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise UserError(f"{word}: write options as --name value.")
        given = value if equals else next(words, None)
        if given is None:
            raise UserError(f"--{name}: a value is missing.")
        found[name.replace("-", "_")] = given
    return found


def _help(name: str | None) -> str:
    """Of one suite: what its file holds and its options. Without one: which suites there are."""
    if name is None:
        known = ", ".join(suite_names())
        return f"{_USAGE.format(suite='SUITE')}\n\nScores answers made elsewhere. SUITE is one of {known}.\n" + "".join(
            [_entry("--out DIR", _OUT), "\n`seedbed score SUITE --help` lists what the suite understands beside that."]
        )
    suite = get_suite(name)
    about = inspect.getdoc(_score_file(suite)) or ""
    parts = [_USAGE.format(suite=name), "", f"{suite.title}: scores answers made elsewhere.", ""]
    parts += [textwrap.fill(" ".join(about.split()), 100), "", "options:", _entry("--out DIR", _OUT).rstrip()]
    parts += [_entry(f"--{option}", text).rstrip() for option, text in _described(resolve(suite.score_file_options))]
    return "\n".join(parts)


def _described(kind: type[Options]) -> Iterator[tuple[str, str]]:
    """Options with what they mean and what they are when not given."""
    for name, field in kind.model_fields.items():
        default: Any = field.default
        choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        parts = [" ".join((field.description or "").split()), f"One of {', '.join(choices)}." if choices else ""]
        if field.is_required():
            parts.append("(required)")
        elif default not in (None, PydanticUndefined):
            parts.append(f"(default: {default})")
        yield name.replace("_", "-"), " ".join(part for part in parts if part)


def _entry(name: str, text: str) -> str:
    filled = textwrap.fill(text, 100, initial_indent=" " * 24, subsequent_indent=" " * 24).lstrip()
    return f"  {name:<22}{filled}\n" if len(name) < 21 else f"  {name}\n{' ' * 24}{filled}\n"
