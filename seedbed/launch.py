"""From a plan to a running sweep: the run's folder, the server, the flow. The one place where the library reaches the
flows, by name and only now."""

from __future__ import annotations

import asyncio
import importlib
import os
import secrets
import signal
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import seedbed
from seedbed import server
from seedbed.config import RunnerConfig, SweepConfig
from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import fresh_since, start_fresh
from seedbed.lm.prices import price_of
from seedbed.lm.runtime import close_runtimes
from seedbed.paths import as_path
from seedbed.phases.context import open_run
from seedbed.phases.halt import stop_sweep
from seedbed.plan import Plan
from seedbed.store import Store, read_json, write_json, write_text


@dataclass(frozen=True)
class Launched:
    """How a sweep ended, and where its results are."""

    status: str
    folder: Path
    api_url: str

    @property
    def ui(self) -> str:
        return self.api_url.removesuffix("/api")


def prepare(plan: Plan, root: Path, *, fresh: bool = False, replay: bool = False, rescore: bool = False) -> Path:
    """Write the plan into a folder of its own, from which every task reads; returns the folder."""
    _refuse_blind_budget(plan.config)
    if plan.config.runner.remote:
        # A cluster that is not there is said before a folder is made for the run.
        os.environ.update(server.client_environment())
        import_flows("runners").task_runner(plan.config.runner)
    store = Store(root)
    engine = open_database(plan.config.ledger or store.ledger_url)
    name = plan.config.name
    since = start_fresh(engine, name, [cell.id for cell in plan.cells]) if fresh else fresh_since(engine, name)
    engine.dispose()
    now = datetime.now(UTC)
    # Names sort by time, also of two runs within a second.
    stamp = f"{now:%Y%m%dT%H%M%S}-{now.microsecond:05x}{secrets.token_hex(1)}"
    folder = store.sweep_dir(name, stamp)
    settings: dict[str, Any] = {"root": str(root), "fresh_since": since, "replay": replay}
    if rescore:
        settings["rescore_since"] = time.time()
    write_json(folder / "run.json", settings)
    write_json(folder / "plan.json", plan.to_json())
    write_text(folder.parent / "latest", f"{stamp}\n")
    return folder


def run_sweep(folder: Path, runner: RunnerConfig, flow_name: Literal["sweep", "rescore"] = "sweep") -> Launched:
    """Run the sweep planned in a folder to its end, or until Ctrl-C."""
    os.environ.update(server.client_environment())
    flow = getattr(import_flows(flow_name), f"{flow_name}_on")(runner)
    try:
        status = asyncio.run(_run(flow, str(folder)))
    finally:
        close_runtimes()
    return Launched(status, folder, os.environ["PREFECT_API_URL"])


async def _run(flow: Any, folder: str) -> str:
    loop = asyncio.get_running_loop()
    pressed, run = 0, open_run(folder)

    def on_signal() -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            os._exit(130)
        stop_sweep(run, "stopped by the user")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    state = await flow(folder, return_state=True)
    summary = as_path(folder) / "summary.json"
    if not summary.exists():
        # The flow itself broke, not a cell of it.
        await state.aresult(raise_on_failure=True)
    return read_json(summary)["status"]


def import_flows(name: str) -> Any:
    """The module of a flow, once it is sure that `flows` and `tasks` are ours: the names are common ones."""
    ours = Path(seedbed.__file__).resolve().parent.parent
    for package in ("flows", "tasks"):
        found = Path(importlib.import_module(package).__file__ or "").resolve().parent.parent
        if found != ours:
            raise UserError(
                f"the package {package!r} at {found} shadows Seedbed's own at {ours}; rename it or run elsewhere."
            )
    return importlib.import_module(f"flows.{name}")


def _refuse_blind_budget(config: SweepConfig) -> None:
    if config.budget.max_usd is None and config.budget.max_usd_per_cell is None:
        return
    for name, model in config.models.items():
        if price_of(model) is None:
            raise UserError(
                f"field budget: the price of model {name!r} ({model.model}) is unknown, so a dollar cap cannot hold; "
                f"give models.{name}.price: {{input: ..., output: ...}} in dollars per million tokens."
            )
