"""`seedbed baseline accept|list`: what nightly runs are held against."""

from __future__ import annotations

import argparse

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.locate import locate
from seedbed.storage.paths import as_root
from seedbed.storage.store import Store


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "accept":
            return _accept(arguments)
        case _:
            return _list(arguments)


def _accept(arguments: argparse.Namespace) -> int:
    from seedbed.nightly.baseline import accept

    accepted, path = accept(locate(arguments.sweep, arguments.out), arguments.note)
    systems = sum(len(entry.table.values) for entry in accepted.entries)
    samples = sum(len(entry.table.sample_ids) for entry in accepted.entries)
    print(f"{accepted.sweep}: baseline {accepted.title}, {systems} systems, {samples} samples\n  {path}")
    return EXIT_OK


def _list(arguments: argparse.Namespace) -> int:
    from seedbed.nightly.baseline import read_baseline, versions

    found = versions(Store(as_root(arguments.out)), arguments.sweep)
    if not found:
        raise UserError(f"{arguments.sweep}: no baseline yet; `seedbed baseline accept {arguments.sweep}` makes one.")
    for _, path in found:
        baseline = read_baseline(path)
        commit = (baseline.commit or "-")[:12]
        print(f"v{baseline.version}  {baseline.accepted_at}  run {baseline.run}  commit {commit}  {baseline.note}")
    return EXIT_OK
