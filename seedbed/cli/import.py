# ruff: noqa: N999 - named for its command
"""`seedbed import FILE...`: results of other tools, for `seedbed compare`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.storage.paths import as_root, safe_name

if TYPE_CHECKING:
    from seedbed.phases.imports.imported import Imported


def run(arguments: argparse.Namespace) -> int:
    from seedbed.phases.imports.read import read_files

    paths = [Path(file) for file in arguments.files]
    try:
        name = safe_name(arguments.name or paths[0].stem)
    except ValueError as error:
        raise UserError(f"{error}; give the import a name with --name.") from None
    imported = read_files(paths, name)
    path = imported.write(as_root(arguments.out))
    _show(imported)
    print(f"\n  {path}\n  to compare it: seedbed compare {name} OTHER")
    return EXIT_OK


def _show(imported: Imported) -> None:
    """Every mean with its interval and n."""
    from seedbed.analysis.intervals import mean_interval
    from seedbed.phases.imports.imported import LABEL

    print(f"{imported.name} · {imported.tool}")
    for table, scores in zip(imported.tables, imported.score_tables(), strict=True):
        errors = sum(row.error is not None for row in table.rows)
        repeats = len(scores.seeds[LABEL])
        print(f"\n{table.benchmark} · {table.model}: {len(scores.sample_ids)} samples x {repeats}, {errors} errors")
        for number, metric in enumerate(table.metrics):
            own = scores.values[LABEL][:, [number]]
            kind = metric.kind if repeats == 1 else "mean"
            mean, low, high = mean_interval(own, value_range=metric.range, kind=kind)
            known = int((own == own).sum())
            shown = f"{mean:.3f} [{low:.3f}, {high:.3f}]" if known else "-"
            print(f"  {metric.label}: {shown}  n={known}")
        if table.left_out:
            print(f"  left out, since they are no number a sample: {', '.join(table.left_out)}")
