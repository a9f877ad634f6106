"""`seedbed run`."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from seedbed.cli import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from seedbed.commands.progress import show_progress
from seedbed.config import load_config
from seedbed.launch import Launched, prepare, run_sweep
from seedbed.paths import as_root
from seedbed.plan import Plan, make_plan, missing_keys


def run(arguments: argparse.Namespace) -> int:
    config, source = load_config(Path(arguments.config), arguments.overrides)
    plan = make_plan(config, source)
    if not arguments.replay:
        missing_keys(config, source)
    plan.load_benchmarks()
    root = as_root(arguments.out or config.out)
    folder = prepare(plan, root, fresh=arguments.fresh, replay=arguments.replay)
    print(f"{config.name}: {len(plan.cells)} cells, results in {folder}")
    with show_progress(plan):
        launched = run_sweep(folder, config.runner)
    _conclude(launched, plan, root, arguments)
    return {"completed": EXIT_OK, "interrupted": EXIT_INTERRUPTED}.get(launched.status, EXIT_FAILED)


def _conclude(launched: Launched, plan: Plan, root: Path, arguments: argparse.Namespace) -> None:
    from seedbed.phases.aggregate import read_console

    print()
    print(read_console(launched.folder, list(plan.groups())))
    print()
    print((launched.folder / "summary.md").read_text(encoding="utf-8"))
    for name in ("report.html", "summary.md", "summary.tex", "summary.csv", "summary.json", "costs.csv"):
        print(f"  {launched.folder / name}")
    print(f"  {root / 'experiment_runs'}/seed_*/   one folder a cell")
    print(f"  {launched.ui}   the Prefect UI")
    if launched.status != "completed":
        print(f"\n{_advice(launched.status)} To go on: {_same_command(arguments)}", file=sys.stderr)


def _advice(status: str) -> str:
    match status:
        case "budget_reached":
            return "The budget is used up; everything paid for is kept. Raise budget.max_usd and run again."
        case "interrupted":
            return "Stopped. Everything paid for is kept."
        case _:
            return "Some cells have no result; the table above names them. What succeeded is not paid again."


def _same_command(arguments: argparse.Namespace) -> str:
    """The command without --fresh, which would start over."""
    parts = ["seedbed", "run", arguments.config]
    for override in arguments.overrides:
        parts += ["--set", override]
    if arguments.out:
        parts += ["--out", arguments.out]
    return shlex.join(parts)
