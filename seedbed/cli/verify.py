"""`seedbed verify`: recompute every published figure of a sweep, or hold a paper against sweeps; exit code 1 on any
difference."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.errors import UserError

_SHOWN = 50


def run(arguments: argparse.Namespace) -> int:
    if arguments.path.endswith(".tex"):
        return _paper(arguments)
    if arguments.sweeps or arguments.claims:
        raise UserError(f"verify: {arguments.path} is no paper; only a .tex file is held against sweeps or claims.")
    return _sweep(arguments)


def _paper(arguments: argparse.Namespace) -> int:
    from seedbed.phases.received import received
    from seedbed.phases.verification.paper import check_paper, summary_again

    if not arguments.sweeps:
        raise UserError(f"verify: name the sweep that {arguments.path} reports: seedbed verify {arguments.path} SWEEP.")
    with ExitStack() as stack:
        opened = [received(path, arguments.out, trust_plugins=arguments.trust_plugins) for path in arguments.sweeps]
        summaries = [summary_again(stack.enter_context(own).run) for own in opened]
        result = check_paper(Path(arguments.path), summaries, Path(arguments.claims) if arguments.claims else None)
    for difference in result.differences:
        print(difference)
    checked = f"{result.n_checked:,} numbers and claims"
    if result.differences:
        print(f"\n{arguments.path}: {len(result.differences)} of {checked} differ from the stored rows.")
    else:
        print(f"{arguments.path}: verified. {checked} follow from the stored rows of {', '.join(arguments.sweeps)}.")
    _say(["whether those rows follow from the ledger: `seedbed verify SWEEP` looks", *result.unchecked])
    return EXIT_FAILED if result.differences else EXIT_OK


def _sweep(arguments: argparse.Namespace) -> int:
    from seedbed.phases.received import received
    from seedbed.phases.verify import verify

    with received(arguments.path, arguments.out, trust_plugins=arguments.trust_plugins) as found:
        result = verify(found.run, again=not arguments.published, archive=found.archive)
    for difference in result.differences[:_SHOWN]:
        print(difference)
    if len(result.differences) > _SHOWN:
        print(f"... and {len(result.differences) - _SHOWN} more")
    checked = f"{result.n_figures:,} figures in {result.n_files:,} files of {result.n_cells} cells"
    if result.differences:
        print(f"\n{arguments.path}: {len(result.differences)} differences; checked {checked}.")
        print(
            "Where the code of a suite has changed since, `seedbed rescore` brings scores and figures together again."
        )
    else:
        print(f"{arguments.path}: verified. {checked} follow from the stored rows and the ledger.")
    _say(result.unchecked)
    return EXIT_FAILED if result.differences else EXIT_OK


def _say(unchecked: Sequence[str]) -> None:
    print("Not checked:")
    for sentence in unchecked:
        print(f"- {sentence}.")
