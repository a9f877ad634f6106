"""`seedbed run`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.cli.again import same_command
from seedbed.cli.main import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from seedbed.cli.plan import show_warning, show_warnings
from seedbed.lm.usable_models import refuse_unusable
from seedbed.local.launch import Launched, get_ready, run_sweep
from seedbed.local.progress_bar import show_progress
from seedbed.phases.budget_check import refuse_small_budget
from seedbed.phases.prepare import prepare
from seedbed.phases.received import is_archive, unpack_to_run
from seedbed.phases.up_to_date import finished_run
from seedbed.report.screen import folded, screen_width
from seedbed.storage.paths import as_writable_root
from seedbed.storage.store import Store, read_json
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

if TYPE_CHECKING:
    from seedbed.phases.context import SweepRun


def run(arguments: argparse.Namespace) -> int:
    if is_archive(arguments.config):
        trusted: bool = arguments.trust_plugins
        arguments.config = str(unpack_to_run(arguments.config, arguments.out, trust_plugins=trusted))
    config, source = load_config(Path(arguments.config), arguments.overrides)
    plan = make_plan(config, source)
    root = as_writable_root(arguments.out or config.out)
    # Refused before a server is started: object storage cannot hold a ledger.
    _ = config.ledger or Store(root).ledger_url
    before = None if arguments.fresh or arguments.replay else finished_run(plan, root)
    if before is not None:
        print(f"{config.name}: {len(plan.cells)} of {len(plan.cells)} cells were up to date, there was nothing to do\n")
        _show_results(before, root, whole=arguments.all)
        return EXIT_OK
    if not arguments.replay:
        for warning in refuse_unusable(config, source):
            show_warning(warning)
    show_warnings(plan)
    if not arguments.replay:
        refuse_small_budget(plan, root, show_warning, fresh=arguments.fresh)
    # Before a folder is made: a run that cannot start is not to be taken for the newest.
    get_ready(plan.config.runner)
    folder = prepare(plan, root, fresh=arguments.fresh, replay=arguments.replay)
    print(folded(f"{config.name}: {len(plan.cells)} cells, results in {folder}", screen_width()))
    # From here on there is something to go on with; --fresh would start over.
    arguments.fresh = False
    with show_progress(folder):
        launched = run_sweep(folder, config.runner, to_go_on=f"To go on: {same_command(arguments)}")
    # Without a reader (`| head`) the exit code still tells.
    with suppress(BrokenPipeError):
        _conclude(launched, root, arguments)
    return leave(launched)


def leave(launched: Launched) -> int:
    """The exit code. Where the server is gone, the process ends here: what Prefect would still try takes minutes."""
    code = _exit_code(launched)
    if launched.server_gone:
        print(f"\nThe Prefect server {launched.ui} is gone: its UI lacks the end of this sweep.", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _exit_code(launched: Launched) -> int:
    if launched.status == "interrupted":
        return launched.signal.exit_code if launched.signal else EXIT_INTERRUPTED
    if launched.status == "unreachable":
        return EXIT_USAGE
    return EXIT_OK if launched.status == "completed" else EXIT_FAILED


def _conclude(launched: Launched, root: Path, arguments: argparse.Namespace) -> None:
    from seedbed.phases.changes import read_ran
    from seedbed.phases.context import open_run

    print()
    done = open_run(str(launched.folder))
    for line in read_ran(done):
        print(line)
    print()
    _show_results(launched.folder, root, whole=arguments.all)
    print(f"  {launched.ui}   the Prefect UI")
    if launched.status != "completed":
        print(f"\n{_advice(launched.status)} To go on: {same_command(arguments)}", file=sys.stderr)
    if (left := _batches_left(done)) is not None:
        print(left, file=sys.stderr)


def _batches_left(run: SweepRun) -> str | None:
    """What goes on without this process, where anything does."""
    from seedbed.lm.batches.words import going_on
    from seedbed.lm.ledger.batch_views import view_batches
    from seedbed.lm.ledger.database import open_database

    engine = open_database(run.ledger_url)
    try:
        left = view_batches(engine, run.plan.config.name)
    finally:
        engine.dispose()
    return f"{going_on(len(left), sum(view.requests - view.taken for view in left))}." if left else None


def _show_results(folder: Path, root: Path, *, whole: bool) -> None:
    from seedbed.phases.summary import SHOWN

    show_summary(folder, whole=whole)
    for name in SHOWN:
        print(f"  {folder / name}")
    print(f"  {root / 'experiment_runs'}/seed_*/   one folder a cell")


def show_summary(folder: Path, *, whole: bool) -> None:
    """What a run found, as wide as the terminal; all of it, as the files have it, where the whole is asked for."""
    from seedbed.phases.aggregate import read_console
    from seedbed.phases.context import open_run
    from seedbed.report.console import console_summary

    markdown = (folder / "summary.md").read_text(encoding="utf-8")
    if whole or not sys.stdout.isatty():
        # Lines of each seed are as long as the suite makes them: a terminal would break them in the middle of a number.
        print(f"of each seed (± is the spread over samples):\n\n{read_console(open_run(str(folder)))}\n")
    if whole:
        print(markdown)
        return
    width = shutil.get_terminal_size((120, 24)).columns
    print(console_summary(markdown, read_json(folder / "summary.json"), width))


def _advice(status: str) -> str:
    match status:
        case "budget_reached":
            return "The budget is used up; everything paid for is kept. Raise it (field budget) and run again."
        case "interrupted":
            return "Stopped. Everything paid for is kept."
        case "unreachable":
            return "A model cannot be used as it is set up; the table above says why. Everything paid for is kept."
        case _:
            return "Some cells have no result; the table above names them. What succeeded is not paid again."
