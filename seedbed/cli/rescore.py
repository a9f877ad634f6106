"""`seedbed rescore`: new metrics on stored answers."""

from __future__ import annotations

import argparse
import sys

from seedbed.cli.run import leave, show_summary
from seedbed.local.locate import locate
from seedbed.local.progress_bar import show_progress


def run(arguments: argparse.Namespace) -> int:
    """A new run of the sweep with the cells it had; calls of a judge that are known already are not paid again."""
    from seedbed.local.launch import get_ready, run_sweep
    from seedbed.phases.prepare import prepare
    from seedbed.storage.paths import refuse_unwritable

    found = locate(arguments.sweep, arguments.out)
    plan = found.plan
    refuse_unwritable(found.store.root)
    get_ready(plan.config.runner)
    folder = prepare(plan, found.store.root, rescore=True)
    print(f"{plan.config.name}: scoring the stored answers of {len(plan.cells)} cells again, results in {folder}")
    to_go_on = "give the same command again to go on."
    with show_progress(folder):
        launched = run_sweep(folder, plan.config.runner, "rescore", to_go_on=to_go_on)
    print()
    show_summary(folder, whole=arguments.all)
    print(f"  {folder / 'report.html'}")
    if launched.status == "interrupted":
        print(f"\nStopped. Everything paid for is kept; {to_go_on}", file=sys.stderr)
    return leave(launched)
