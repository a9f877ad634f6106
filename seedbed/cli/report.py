"""`seedbed report`: write summary, plots and report of a sweep again from its stored rows."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.locate import locate
from seedbed.storage.paths import home, is_local


def run(arguments: argparse.Namespace) -> int:
    from seedbed.cli.run import show_summary
    from seedbed.phases.aggregate import publish_again
    from seedbed.phases.publish import Choices
    from seedbed.phases.summary import SHOWN

    found = locate(arguments.sweep, arguments.out)
    choices = Choices(arguments.baseline, arguments.margin, arguments.samples)
    if not publish_again(found, choices):
        raise UserError(f"{arguments.sweep}: no cell has been scored yet; go on with `seedbed run`.")
    report = found.folder / "report.html"
    if sys.stdout.isatty() and not arguments.all:
        # Markdown for a file or a program; a terminal would break its tables in the middle of a number.
        show_summary(found.folder, whole=False)
    else:
        print((found.folder / "summary.md").read_text(encoding="utf-8"))
    for name in (*SHOWN, "plots"):
        print(f"  {found.folder / name}")
    if arguments.open:
        webbrowser.open(_on_disk(report).as_uri())
    return EXIT_OK


def _on_disk(report: Path) -> Path:
    """The report itself, or a copy of it where it lies on object storage, which a browser cannot read."""
    if is_local(report):
        return report
    from seedbed.report.sample_packs import FOLDER
    from seedbed.storage.objects import download, download_folder

    copy = download(report, home() / "reports" / report.parent.parent.name / report.parent.name)
    download_folder(report.parent / FOLDER, copy.parent / FOLDER)
    print(f"  a copy to look at: {copy}")
    return copy
