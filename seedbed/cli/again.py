"""How to go on with what was stopped."""

from __future__ import annotations

import argparse
import shlex


def same_command(arguments: argparse.Namespace) -> str:
    """The `seedbed run` that was given."""
    parts = ["seedbed", "run", arguments.config]
    for override in arguments.overrides:
        parts += ["--set", override]
    if arguments.out:
        parts += ["--out", arguments.out]
    if arguments.replay:
        parts.append("--replay")
    if arguments.fresh:
        parts.append("--fresh")
    return shlex.join(parts)
