"""The nightly: a sweep run afresh, its verdict against the accepted baseline, and who is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from flows.notify import notify
from flows.requests import NightlyRequest
from flows.subflow import explained, run_planned
from flows.sweep import sweep_on
from seedbed.nightly.night import start_night
from tasks.gate import gate


@flow(name="nightly", flow_run_name="nightly {request.config}")
async def nightly(request: NightlyRequest) -> State[Any]:
    """Ends Completed only if the gate passed. A regression ends Failed; what cannot be told ends Failed too, under the
    name Inconclusive."""

    async def work() -> State[Any]:
        plan, root = await asyncio.to_thread(request.plan)
        folder, resumed = await asyncio.to_thread(start_night, plan, root, get_run_logger().warning)
        get_run_logger().info("%s: %s in %s", plan.config.name, "goes on" if resumed else "starts afresh", folder)
        try:
            status = await run_planned(sweep_on(plan.config.runner), folder)
        except Exception as error:
            get_run_logger().exception("the sweep broke")
            status = f"broken ({type(error).__name__}: {error})"
        if status == "interrupted":
            return Cancelled(message=f"interrupted: what was paid for is kept in {folder}")
        verdict = await asyncio.to_thread(lambda: gate(str(folder), status))
        await notify(plan.config.gate.notify, verdict)
        return _state(verdict)

    return await explained(work)


def _state(verdict: Mapping[str, Any]) -> State[Any]:
    match verdict["verdict"]:
        case "pass":
            return Completed(message=verdict["headline"])
        case "fail":
            return Failed(message=verdict["headline"])
        case _:
            return Failed(name="Inconclusive", message=verdict["headline"])
