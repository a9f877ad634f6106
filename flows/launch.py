"""Sweeps and rescores started from the Prefect UI, its API or a schedule."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State

from flows.requests import RescoreRequest, SweepRequest
from flows.rescore import rescore_on
from flows.states import state_of
from flows.subflow import explained, run_planned
from flows.sweep import sweep_on
from seedbed.phases.budget_check import refuse_small_budget
from seedbed.phases.context import open_run
from seedbed.phases.prepare import prepare
from seedbed.storage.paths import as_root
from seedbed.storage.store import Store
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan


@flow(name="launch-sweep", flow_run_name="{request.config}")
async def launch_sweep(request: SweepRequest) -> State[Any]:
    """Run a sweep as `seedbed run` would."""

    async def work() -> State[Any]:
        plan, root = await asyncio.to_thread(request.plan)
        flow = sweep_on(plan.config.runner)  # before a folder is made: a cluster that is not there is said now
        warn = get_run_logger().warning
        await asyncio.to_thread(refuse_small_budget, plan, root, warn, fresh=request.fresh)
        folder = await asyncio.to_thread(prepare, plan, root, fresh=request.fresh)
        get_run_logger().info("%s: %d cells, results in %s", plan.config.name, len(plan.cells), folder)
        return state_of(await run_planned(flow, folder), f"results in {folder}")

    return await explained(work)


@flow(name="launch-rescore", flow_run_name="rescore {request.config}")
async def launch_rescore(request: RescoreRequest) -> State[Any]:
    """Score the stored answers of a sweep again, as `seedbed rescore` would."""

    async def work() -> State[Any]:
        plan, folder = await asyncio.to_thread(_prepare_rescore, request)
        return state_of(await run_planned(rescore_on(plan.config.runner), folder), f"results in {folder}")

    return await explained(work)


def _prepare_rescore(request: RescoreRequest) -> tuple[Plan, Path]:
    config, _ = load_config(Path(request.config))
    store = Store(as_root(config.out))
    plan = open_run(str(store.latest_sweep(config.name))).plan
    return plan, prepare(plan, store.root, rescore=True)
