"""`seedbed verify`: recompute every published figure of a sweep; exit code 1 on any difference."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_FAILED, EXIT_OK

_SHOWN = 50


def run(arguments: argparse.Namespace) -> int:
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
    print("Not checked:")
    for sentence in result.unchecked:
        print(f"- {sentence}.")
    return EXIT_FAILED if result.differences else EXIT_OK
