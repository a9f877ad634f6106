"""`seedbed init`: a commented config with its data, ready to run, in the folder one stands in."""

from __future__ import annotations

import argparse
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.suites.custom.examples import example_files


def run(arguments: argparse.Namespace) -> int:
    folder, name = Path(arguments.folder), arguments.example
    files = example_files(name)
    there = next((file.name for file in files if (folder / file.name).exists()), None)
    if there is not None:
        raise UserError(f"{folder / there} is there already; move it away, or name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            (folder / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); name another folder.") from None
    for file in files:
        print(f"  {folder / file.name}")
    config = folder / f"{name}.yaml"
    print(f"Next: seedbed run {config}, then seedbed report {name} --open")
    return EXIT_OK
