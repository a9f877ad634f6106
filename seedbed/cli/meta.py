"""`seedbed meta SUITE`: judges the judge, on cases whose truth is planted."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.storage.paths import local_path
from seedbed.suite import resolve
from seedbed.sweep.registry import nearest

_SUITES = {"rag_quality": "seedbed.suites.rag_quality.meta:judge_the_judge"}


def run(arguments: argparse.Namespace) -> int:
    if arguments.suite not in _SUITES:
        raise UserError(f"suite {arguments.suite!r} has no planted cases; {nearest(arguments.suite, _SUITES)}")
    from pydantic import ValidationError

    from seedbed.suites.rag_quality.options import JudgeOptions

    given = {name: getattr(arguments, name) for name in JudgeOptions.model_fields if hasattr(arguments, name)}
    try:
        options = JudgeOptions(**given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(
            f"--{str(first['loc'][0]).replace('_', '-')}: {first['msg']} (got {first['input']!r})."
        ) from None
    target: object = resolve(_SUITES[arguments.suite])
    assert callable(target)
    print(target(local_path(arguments.out, "--out"), options))
    return EXIT_OK
