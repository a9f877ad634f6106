"""`seedbed plan`: what a sweep would do and cost."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.lm.prices import token_cost
from seedbed.storage.redact import redact
from seedbed.sweep.config import load_config
from seedbed.sweep.estimate import Estimate, estimate
from seedbed.sweep.plan import Plan, make_plan


def run(arguments: argparse.Namespace) -> int:
    config, source = load_config(Path(arguments.config), arguments.overrides)
    plan = make_plan(config, source)
    show_warnings(plan)
    guesses = [estimate(plan, cell, token_cost) for cell in plan.cells]
    total = sum(guesses, start=Estimate(0, 0, 0, 0.0))
    print(f"{config.name}: {len(plan.cells)} cells ({len(config.seeds)} seeds)")
    for cell, guess in zip(plan.cells, guesses, strict=True):
        print(f"  {cell.id[:12]}  {cell.title:<48} {guess.calls:>7} calls  {guess.shown_dollars:>10}")
    tokens = total.tokens_in + total.tokens_out
    print(f"about {total.calls} calls, {tokens} tokens, {total.shown_dollars} if nothing is reused")
    if config.budget.max_usd is not None:
        print(f"capped at ${config.budget.max_usd:g} by budget.max_usd")
    return EXIT_OK


def show_warnings(plan: Plan) -> None:
    """Read all benchmarks and tell what is odd about them, before anything is paid for."""
    for warning in plan.load_benchmarks():
        print(redact(f"warning: {warning}"), file=sys.stderr)
