"""`seedbed power SWEEP`: what a finished sweep could see, and how many samples would see a given difference."""

from __future__ import annotations

import argparse
import json

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.local.locate import locate


def run(arguments: argparse.Namespace) -> int:
    from seedbed.phases.power import ContestPower, as_row, contest_powers, told
    from seedbed.report.writers import plain_markdown

    if arguments.detect is not None and arguments.detect <= 0:
        raise UserError(f"--detect {arguments.detect:g}: give a difference above 0, such as 0.03.")
    found = contest_powers(locate(arguments.sweep, arguments.out), arguments.metric)
    if not found:
        metric = f" in the metric {arguments.metric!r}" if arguments.metric else ""
        raise UserError(f"{arguments.sweep}: no contest of two systems has scores of samples{metric}; run it first.")
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
            *(f"{dict(own.curve()).get(n, float('nan')):.3f}" for n in sizes),
        ]
        for own in found
    ]
    print(plain_markdown(columns, rows))
    print("\ndetectable: the true difference that four of five such sweeps would show, Holm's adjustment in it;")
    print("n = ...: with so many samples and as many seeds")
    if arguments.detect is not None:
        print(f"\nto see a difference of {arguments.detect:g}:")
        for own in found:
            print(f"  {own.pair.title}: {told(own, arguments.detect, arguments.seeds or own.seeds)}")
    return EXIT_OK
