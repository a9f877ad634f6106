"""`seedbed verify`: recompute every published figure of a sweep; exit code 1 on any difference."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.local.locate import locate

_SHOWN = 50


def run(arguments: argparse.Namespace) -> int:
    from seedbed.phases.verify import verify

    found = locate(arguments.sweep, arguments.out)
    result = verify(found)
    for difference in result.differences[:_SHOWN]:
        print(difference)
    if len(result.differences) > _SHOWN:
        print(f"... and {len(result.differences) - _SHOWN} more")
    checked = f"{result.n_figures:,} figures in {result.n_files:,} files of {result.n_cells} cells"
    if result.differences:
        print(f"\n{found.folder}: {len(result.differences)} differences; checked {checked}.")
        print(
            "Where the code of a suite has changed since, `seedbed rescore` brings scores and figures together again."
        )
        return EXIT_FAILED
    print(f"{found.folder}: verified. {checked} follow from the stored rows and the ledger.")
    return EXIT_OK
