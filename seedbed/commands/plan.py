"""`seedbed plan`: what a sweep would do and cost."""

from __future__ import annotations

import argparse
from pathlib import Path

from seedbed.cli import EXIT_OK
from seedbed.config import load_config
from seedbed.estimate import Estimate, estimate
from seedbed.plan import make_plan


def run(arguments: argparse.Namespace) -> int:
    config, source = load_config(Path(arguments.config), arguments.overrides)
    plan = make_plan(config, source)
    guesses = [estimate(plan, cell) for cell in plan.cells]
    total = sum(guesses, start=Estimate(0, 0, 0, 0.0))
    print(f"{config.name}: {len(plan.cells)} cells ({len(config.seeds)} seeds)")
    for cell, guess in zip(plan.cells, guesses, strict=True):
        print(f"  {cell.id[:12]}  {cell.title:<48} {guess.calls:>7} calls  {guess.shown_dollars:>10}")
    tokens = total.tokens_in + total.tokens_out
    print(f"about {total.calls} calls, {tokens} tokens, {total.shown_dollars} if nothing is reused")
    if config.budget.max_usd is not None:
        print(f"capped at ${config.budget.max_usd:g} by budget.max_usd")
    return EXIT_OK
