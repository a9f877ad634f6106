"""Keeping Prefect's records small: runs that ended long ago go, with their tasks, states and logs. Results, reports and
the ledger are files of ours and stay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from prefect import get_client
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound

_FLOWS = ("sweep", "rescore", "nightly", "launch-sweep", "launch-rescore")
"""A server that is shared has flows of others, which are not ours to drop."""
_ENDED = [StateType.COMPLETED, StateType.FAILED, StateType.CANCELLED, StateType.CRASHED]
_PAGE = 200


async def tidy(days: float, *, apply: bool) -> int:
    """How many runs of ours ended more than so many days ago. `apply`: drop them; those that run are never among
    them."""
    async with get_client() as client:
        old = await _ended_before(client, datetime.now(UTC) - timedelta(days=days))
        for run in old if apply else ():
            try:
                await client.delete_flow_run(run.id)
            except ObjectNotFound:
                # A run within another may go with it.
                continue
        return len(old)


async def _ended_before(client: PrefectClient, then: datetime) -> Sequence[FlowRun]:
    found: list[FlowRun] = []
    while True:
        page = await client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=list(_FLOWS))),
            flow_run_filter=FlowRunFilter(
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_ENDED)),
                end_time=FlowRunFilterEndTime.model_validate({"before_": then}),
            ),
            sort=FlowRunSort.END_TIME_DESC,
            limit=_PAGE,
            offset=len(found),
        )
        found += page
        if len(page) < _PAGE:
            return found
