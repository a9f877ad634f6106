"""`seedbed export`: every sample of a sweep as one table, for pandas, R or a spreadsheet."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_OK
from seedbed.local.locate import locate
from seedbed.storage.paths import as_path


def run(arguments: argparse.Namespace) -> int:
    from seedbed.report.export import export

    found = locate(arguments.sweep, arguments.out)
    target = as_path(arguments.to) if arguments.to else found.folder / f"samples.{arguments.format}"
    rows = export(found.store, found.plan, target, arguments.format)
    print(f"{rows:,} samples in {target}")
    return EXIT_OK
