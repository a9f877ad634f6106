"""`seedbed power SWEEP`: what a finished sweep could see, and how many samples would see a given difference."""

from __future__ import annotations

import argparse
import json

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.locate import locate
from seedbed.report.screen import aligned, folded, screen_width
from seedbed.sweep.plan import Plan
from seedbed.sweep.registry import nearest


def run(arguments: argparse.Namespace) -> int:
    from seedbed.phases.power import ContestPower, as_row, check_difference, contest_powers, told

    if arguments.seeds is not None and arguments.seeds < 1:
        raise UserError(f"--seeds {arguments.seeds}: give 1 or more.")
    pilot = locate(arguments.sweep, arguments.out)
    found = contest_powers(pilot, arguments.metric)
    if not found:
        raise UserError(_why_none(arguments.sweep, pilot.plan, arguments.metric))
    if arguments.detect is not None:
        check_difference(arguments.detect, found)
    if arguments.json:
        rows = [as_row(own, arguments.detect, arguments.seeds or own.seeds) for own in found]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return EXIT_OK

    def could_see(own: ContestPower) -> str:
        return "nothing: seeds differ too much" if own.detectable is None else f"{own.detectable:.3f}"

    sizes = sorted({n for own in found for n, _ in own.curve()})
    columns = ["contest", "metric", "n", "detectable", *(f"n = {n}" for n in sizes)]
    rows = [
        [
            own.pair.title,
            own.metric.label,
            f"{own.n} x {own.seeds}",
            could_see(own),
            *(f"{curve[n]:.3f}" if n in curve else "-" for curve in [dict(own.curve())] for n in sizes),
        ]
        for own in found
    ]
    width = screen_width()
    for line in aligned([columns, *rows], width, right=range(2, len(columns))):
        print(line)
    print()
    meant = "detectable: the true difference that four of five such sweeps would show, Holm's adjustment in it;"
    print(folded(meant, width))
    print("n = ...: with so many samples and as many seeds")
    if arguments.detect is not None:
        print(f"\nto see a difference of {arguments.detect:g}:")
        for own in found:
            print(f"  {own.pair.title}:")
            print(folded(told(own, arguments.detect, arguments.seeds or own.seeds), width, "    "))
    return EXIT_OK


def _why_none(sweep: str, plan: Plan, metric: str | None) -> str:
    """Why there is nothing to tell, and what to do."""
    known = {m.name: m for suite in dict.fromkeys(cell.suite for cell in plan.cells) for m in plan.metrics(suite)}
    if metric is not None and metric not in known:
        return f"{sweep}: unknown metric {metric!r}; {nearest(metric, known)}"
    if metric is not None and known[metric].kind == "pooled":
        return f"{sweep}: {metric!r} is a figure of whole cells; take a metric that samples have."
    return f"{sweep}: no contest of two systems has scores of samples; run it first, with two systems or more."
