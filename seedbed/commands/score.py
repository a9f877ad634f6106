"""`seedbed score SUITE FILE`: scores answers made elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from pydantic import ValidationError

from seedbed.cli import EXIT_OK
from seedbed.errors import UserError
from seedbed.paths import local_path
from seedbed.registry import get_suite, nearest
from seedbed.suite import resolve


def run(arguments: argparse.Namespace) -> int:
    suite = get_suite(arguments.suite)
    if suite.score_file is None:
        raise UserError(f"suite {suite.name!r} cannot score a file on its own; run it in a sweep.")
    path = Path(arguments.file)
    if not path.exists():
        raise UserError(f"{path}: no such file.")
    kind = resolve(suite.score_file_options)
    given = _pairs(arguments.rest)
    for name in given:
        if name not in kind.model_fields:
            raise UserError(
                f"--{name}: not an option of `seedbed score {suite.name}`; {nearest(name, kind.model_fields)}"
            )
    try:
        options = kind.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"--{first['loc'][0]}: {first['msg']} (got {first['input']!r}).") from None
    out = local_path(arguments.out, "--out") if arguments.out else path.parent
    print(resolve(suite.score_file)(path, out, options))
    return EXIT_OK


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
