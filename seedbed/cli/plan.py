"""`seedbed plan`: what a sweep would do and cost."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.lm.usable_models import check_model_names
from seedbed.local.server import probes
from seedbed.phases.budget_check import check_budget
from seedbed.phases.forecast import LATENCIES, REPLIES, Forecast, Range, SweepForecast, forecast, kind_of
from seedbed.report.screen import aligned, folded, screen_width
from seedbed.storage.paths import as_root
from seedbed.storage.redact import redact
from seedbed.storage.store import Store
from seedbed.sweep.cell import BASELINE, Cell
from seedbed.sweep.config import SweepConfig, load_config
from seedbed.sweep.plan import Plan, make_plan


def run(arguments: argparse.Namespace) -> int:
    config, source = load_config(Path(arguments.config), arguments.overrides)
    plan = make_plan(config, source)
    for warning in check_model_names(config, source):
        show_warning(warning)
    show_warnings(plan)
    found = forecast(plan, as_root(arguments.out or config.out), probes=probes())
    wanted = _detected(plan, as_root(arguments.out or config.out), arguments)
    if arguments.json:
        print(json.dumps({**_data(plan, found), **({} if wanted is None else {"detect": wanted[1]})}, indent=2))
    else:
        _show(plan, found)
        for line in () if wanted is None else wanted[0]:
            print(line)
    warning = check_budget(plan, found)
    if warning is not None:
        show_warning(warning)
    return EXIT_OK


def _detected(
    plan: Plan, root: Path, arguments: argparse.Namespace
) -> tuple[list[str], list[dict[str, object]]] | None:
    """What seeing a difference takes, for each contest: in words and as data; None where nobody asks."""
    from seedbed.phases.contest_values import pairs_of
    from seedbed.phases.power import as_row, check_difference, contest_powers, find_pilot, matched, told

    difference: float | None = arguments.detect
    if difference is None:
        if arguments.pilot:
            raise UserError(f"--pilot {arguments.pilot}: says by what to judge; add --detect D for what to look for.")
        return None
    check_difference(difference)
    pilot = find_pilot(Store(root), plan, arguments.pilot)
    powers = contest_powers(pilot)
    check_difference(difference, powers)
    seeds = len(plan.config.seeds)
    lines = [f"to see a difference of {difference:g}, judged by {pilot.plan.config.name} · {pilot.folder.name}:"]
    rows: list[dict[str, object]] = []
    for pair, power in matched(powers, plan):
        words = "no pilot: that run has no scores of its samples"
        if power is not None:
            words = f"{power.metric.label}: {told(power, difference, seeds)}"
            rows.append(as_row(power, difference, seeds))
        lines.append(f"  {pair.title}: {words}")
    if not any(pairs_of(plan)):
        lines.append("  the config has no contest: that takes two systems on one benchmark")
    return lines, rows


def _row(cell: Cell, guess: Forecast) -> list[str]:
    return [f"  {cell.id[:12]}", cell.title, f"{_count(guess.new_calls)} new calls", _dollars(guess), guess.basis]


def _show(plan: Plan, found: SweepForecast) -> None:
    config, total = plan.config, found.total
    print(f"{config.name}: {len(plan.cells)} cells ({len(config.seeds)} seeds)")
    for line in aligned([_row(cell, found.cells[cell.id]) for cell in plan.cells], screen_width(), right=(2, 3)):
        print(line)
    if any(guess.basis == "assumed" for guess in found.cells.values()):
        kinds = sorted({kind_of(model) for model in config.models.values()})
        replies = ", ".join(f"{REPLIES[kind][0]} to {REPLIES[kind][2]} ({kind} models)" for kind in kinds)
        waits = _waits(config, found)
        told = f"assumed, where nothing like it is on record: answers of {replies} tokens; calls of {waits}"
        print(folded(told, screen_width()))
    everything = total.known_calls + round(total.new_calls.likely)
    new = f"{_count(total.new_calls)} of {everything:,} calls are new: {_count(total.tokens)} tokens, {_dollars(total)}"
    if total.seconds.high:
        new += f", {_time(total.seconds)}"
    print(folded(new, screen_width()))
    if total.new_calls.high and any(cell.in_looks for cell in plan.cells):
        print(
            "contests may be decided at any look (`decide`): at the lower end it is the next one, at the upper none is"
        )
    for line in _batch_lines(config, found):
        print(line)
    if found.spent_usd:
        print(f"spent so far: ${found.spent_usd:.4f}")
    if config.budget.max_usd is not None:
        print(f"capped at ${config.budget.max_usd:g} by budget.max_usd")


def _batch_lines(config: SweepConfig, found: SweepForecast) -> Iterator[str]:
    """Dollars both ways, how long batches take, and who does not use them."""
    batched = {name: model for name, model in config.models.items() if model.service == "batch"}
    if not batched:
        return
    usd, online = found.total.usd, found.total.online_usd
    if usd is not None and online is not None:
        yield f"by batches ({', '.join(batched)}): {_usd(usd)}; by normal calls it would be {_usd(online)}"
    alone = "; the time above is that of normal calls alone" if found.total.seconds.high else ""
    yield f"a batch is answered within a day, most within an hour{alone}"
    searched = any(optimizer.name != BASELINE for one in config.experiments for optimizer in one.optimizers)
    online_search = [name for name, model in batched.items() if not model.is_batched("optimise")]
    if searched and online_search:
        names = ", ".join(online_search)
        yield f"optimizers ask {names} by normal calls at their price: each waits for the last (`optimise: online`)"


def _waits(config: SweepConfig, found: SweepForecast) -> str:
    """What is assumed of a kind of model, and what was measured of those that have been asked before."""
    unknown = sorted({kind_of(model) for name, model in config.models.items() if not found.took.get(name)})
    parts = [f"{LATENCIES[kind][0]:g} to {LATENCIES[kind][1]:g} s ({kind})" for kind in unknown]
    parts += [f"{min(took):.2g} to {max(took):.2g} s ({name}, measured)" for name, took in found.took.items() if took]
    return ", ".join(parts)


def _data(plan: Plan, found: SweepForecast) -> dict[str, object]:
    return {
        "sweep": plan.config.name,
        "cells": [{"id": cell.id, "title": cell.title, **found.cells[cell.id].to_json()} for cell in plan.cells],
        "total": found.total.to_json(),
        "spent_usd": found.spent_usd,
        "max_usd": plan.config.budget.max_usd,
    }


def _count(numbers: Range) -> str:
    low, high = round(numbers.low), round(numbers.high)
    return f"{round(numbers.likely):,}" if low == high else f"about {round(numbers.likely):,} ({low:,} to {high:,})"


def _dollars(guess: Forecast) -> str:
    if guess.usd is None:
        return "price unknown"
    return _usd(guess.usd) if guess.usd.high else "$0"


def _usd(usd: Range) -> str:
    return f"${usd.low:.4f} to ${usd.high:.4f}"


def _time(seconds: Range) -> str:
    def shown(value: float) -> str:
        return f"{value:.0f} s" if value < 100 else f"{value / 60:.0f} min" if value < 6000 else f"{value / 3600:.1f} h"

    return f"{shown(seconds.low)} to {shown(seconds.high)} of calls"


def show_warnings(plan: Plan) -> None:
    """Read all benchmarks and tell what is odd about them, before anything is paid for."""
    for warning in plan.load_benchmarks():
        show_warning(warning)


def show_warning(warning: str) -> None:
    print(redact(f"warning: {warning}"), file=sys.stderr)
