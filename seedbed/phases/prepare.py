"""Making the folder of a run: the plan and what the command line added, from which every task reads."""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import generation_of, start_fresh
from seedbed.lm.prices import price_of
from seedbed.phases.context import size_key
from seedbed.phases.relabel import take_along
from seedbed.storage.paths import is_local
from seedbed.storage.store import Store, write_json, write_text
from seedbed.sweep.config import SweepConfig
from seedbed.sweep.plan import Plan


def prepare(plan: Plan, root: Path, *, fresh: bool = False, replay: bool = False, rescore: bool = False) -> Path:
    """Write the plan into a folder of its own, from which every task reads; returns the folder."""
    _refuse_blind_budget(plan.config)
    store = Store(root)
    name = plan.config.name
    engine = open_database(plan.config.ledger or store.ledger_url)
    try:
        generation = start_fresh(engine, name) if fresh else generation_of(engine, name)
    finally:
        engine.dispose()
    take_along(store, plan)
    if rescore:
        for cell in plan.cells:
            store.forget(cell, ["score"])
    now = datetime.now(UTC)
    # Names sort by time, also of two runs within a second.
    stamp = f"{now:%Y%m%dT%H%M%S}-{now.microsecond:05x}{secrets.token_hex(1)}"
    folder = store.sweep_dir(name, stamp)
    settings = {
        "config_dir": _beside(root, plan.config_dir),
        "generation": generation,
        "replay": replay,
        "rescore": rescore,
        "sizes": _sizes(plan),
    }
    write_json(folder / "run.json", settings)
    write_json(folder / "plan.json", plan.to_json())
    write_text(folder.parent / "latest", f"{stamp}\n")
    return folder


def _sizes(plan: Plan) -> dict[str, int]:
    """For who looks on, and may have neither the data nor the plugins."""
    try:
        return {size_key(cell): len(plan.benchmark(cell).test) for cell in plan.cells}
    except (OSError, UserError):
        # Stored answers can be scored again where the data is gone.
        return {}


def _beside(root: Path, config_dir: Path) -> str:
    """The config's folder as seen from the results, so that both can be moved together; objects have no such way."""
    return os.path.relpath(config_dir, root) if is_local(root) else str(config_dir)


def _refuse_blind_budget(config: SweepConfig) -> None:
    if config.budget.max_usd is None and config.budget.max_usd_per_cell is None:
        return
    for name, model in config.models.items():
        if price_of(model) is None:
            raise UserError(
                f"field budget: the price of model {name!r} ({model.model}) is unknown, so a dollar cap cannot hold; "
                f"give models.{name}.price: {{input: ..., output: ...}} in dollars per million tokens."
            )
