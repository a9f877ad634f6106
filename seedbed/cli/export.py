"""`seedbed export`: every sample of a sweep as one table, its cells for other tools, or a whole run as one archive."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.locate import locate
from seedbed.storage.paths import as_path

if TYPE_CHECKING:
    from seedbed.phases.context import SweepRun


def run(arguments: argparse.Namespace) -> int:
    if arguments.archive is not None:
        return _archive(arguments)
    if arguments.with_data:
        raise UserError("--with-data: belongs to --archive FILE.zip; a table holds no data files.")
    if arguments.format in ("inspect", "mlflow"):
        return _for_others(arguments)
    from seedbed.report.export import export

    found = locate(arguments.sweep, arguments.out)
    form = arguments.format or "csv"
    if form == "otel":
        return _otel(found, arguments.to)
    if form == "labels":
        return _labels(found, arguments.to)
    target = as_path(arguments.to) if arguments.to else found.folder / f"samples.{form}"
    rows = export(found.store, found.plan, target, form)
    print(f"{rows:,} samples in {target}")
    return EXIT_OK


def _for_others(arguments: argparse.Namespace) -> int:
    from seedbed.lm.ledger.database import open_database
    from seedbed.phases.aggregate import finished_cells
    from seedbed.report.inspect_log import write_inspect_logs
    from seedbed.report.mlflow_runs import default_store, write_mlflow_runs

    found = locate(arguments.sweep, arguments.out)
    finished = finished_cells(found)
    cells = [cell for cell in found.plan.cells if cell.id in finished]
    if not cells:
        raise UserError(f"{arguments.sweep}: no cell has been scored yet; there is nothing to export.")
    if arguments.format == "mlflow":
        target = arguments.to or default_store(found.folder)
        written = write_mlflow_runs(found.store, found.plan, cells, target)
        print(f"{written:,} runs in {target}, {len(cells) - written:,} were there already")
        return EXIT_OK
    folder = as_path(arguments.to) if arguments.to else found.folder / "inspect"
    engine = open_database(found.ledger_url)
    try:
        logs = write_inspect_logs(found.store, found.plan, cells, folder, engine)
    finally:
        engine.dispose()
    print(f"{len(logs):,} logs in {folder}; to look at them: inspect view --log-dir {folder}")
    return EXIT_OK


def _otel(found: SweepRun, to: str | None) -> int:
    from seedbed.report.otel import export_otel

    target = as_path(to) if to else found.folder / "calls.otel.jsonl"
    print(f"{export_otel(found.store, found.plan, target):,} calls in {target}")
    return EXIT_OK


def _labels(found: SweepRun, to: str | None) -> int:
    from seedbed.phases.labels import labels_path, labels_table, read_labels
    from seedbed.storage.store import write_text

    path = labels_path(found.store, found.plan.config.name)
    labels = read_labels(path)
    if not labels.rows:
        raise UserError(f"{path}: there are no labels yet; make some with `seedbed label`.")
    target = as_path(to) if to else found.folder / "labels.csv"
    write_text(target, labels_table(labels))
    print(f"{len(labels.rows):,} labels in {target}")
    return EXIT_OK


def _archive(arguments: argparse.Namespace) -> int:
    if arguments.to is not None or arguments.format is not None:
        raise UserError("--archive FILE.zip holds a whole run: give --format and --to in a command of their own.")
    if not arguments.archive.endswith(".zip"):
        raise UserError(f"--archive {arguments.archive}: must end in .zip.")
    from seedbed.phases.archive import write_archive

    found = locate(arguments.sweep, arguments.out)
    target = as_path(arguments.archive)
    made = write_archive(found, target, with_data=arguments.with_data)
    print(f"{target}: {made.n_files:,} files, {made.n_attempts:,} attempts of the ledger")
    if made.code:
        print(f"  with code of your own: {', '.join(made.code)}")
    if made.left_out:
        print(f"  without the data of {', '.join(made.left_out)}; --with-data puts it in")
    print(f"  to check it: seedbed verify {target}")
    print(f"  to make it again: seedbed run {target} --replay --out NEW_FOLDER")
    return EXIT_OK
