"""`seedbed meta SUITE`: judges the judge, on cases whose truth is planted."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.storage.paths import local_path
from seedbed.suite import resolve
from seedbed.sweep.registry import get_suite, nearest, suite_names


def run(arguments: argparse.Namespace) -> int:
    judged = {name: meta for name in suite_names() if (meta := get_suite(name).meta) is not None}
    if arguments.suite not in judged:
        raise UserError(f"suite {arguments.suite!r} has no planted cases; {nearest(arguments.suite, judged)}")
    from pydantic import ValidationError

    from seedbed.suites.kit.meta import MetaOptions

    given = {name: getattr(arguments, name) for name in MetaOptions.model_fields if hasattr(arguments, name)}
    try:
        options = MetaOptions(**given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(
            f"--{str(first['loc'][0]).replace('_', '-')}: {first['msg']} (got {first['input']!r})."
        ) from None
    print(resolve(judged[arguments.suite])(local_path(arguments.out, "--out"), options))
    return EXIT_OK
