"""`seedbed rescore`: new metrics on stored answers."""

from __future__ import annotations

import argparse

from seedbed.cli import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from seedbed.commands.locate import locate
from seedbed.commands.progress import show_progress


def run(arguments: argparse.Namespace) -> int:
    """A new run of the sweep with the cells it had; calls of a judge that are known already are not paid again."""
    from seedbed.launch import prepare, run_sweep
    from seedbed.phases.aggregate import read_console

    found = locate(arguments.sweep, arguments.out)
    plan = found.plan
    folder = prepare(plan, found.store.root, rescore=True)
    print(f"{plan.config.name}: scoring the stored answers of {len(plan.cells)} cells again, results in {folder}")
    with show_progress(plan):
        launched = run_sweep(folder, plan.config.runner, "rescore")
    print(f"\n{read_console(folder, list(plan.groups()))}\n")
    print((folder / "summary.md").read_text(encoding="utf-8"))
    print(f"  {folder / 'report.html'}")
    return {"completed": EXIT_OK, "interrupted": EXIT_INTERRUPTED}.get(launched.status, EXIT_FAILED)
