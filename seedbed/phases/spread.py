"""The samples of a cell, spread over processes where the config asks for several: each takes the next few when it has
answered its last ones. All of them write to one ledger under the same execution, so the cell's account is that of one
process; the answers come back here, and the files are written here."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from seedbed.phases.answer import answer_cases, opened_system
from seedbed.phases.context import CellContext
from seedbed.phases.helper import stop_of, told_stop
from seedbed.phases.helpers import Helper, HelperGone, helpers_of
from seedbed.phases.predict import predict, read_prediction
from seedbed.phases.progress import report
from seedbed.suite import Case, Prediction

logger = logging.getLogger("seedbed")

_PORTIONS = 8
"""A process has its part of the calls in flight with so many portions of samples, ..."""
_LANES = 11
"""... and works on some more: a call that ends then finds the next one ready."""
_LANES_AWAY = 18
"""A helper has yet more: its next portion comes only when this process's busy loop has read the last one's answers."""
_WORTH = 8
"""Samples that are worth another process."""
_LOOK_S = 0.25
_PATIENCE_S = 2.0
"""How much longer than the grace of a stop its helpers may take to say that they have stopped."""


async def answer_spread(context: CellContext, cases: Sequence[Case]) -> list[Prediction]:
    """Put cases to the cell's system; how each ended, in their order."""
    processes = _processes(context, len(cases))
    if processes == 1:
        return await answer_cases(context, cases)
    async with opened_system(context) as system:
        return await _Spread(context, cases, system, processes).answers()


def _processes(context: CellContext, samples: int) -> int:
    """Over how many processes a cell is spread. One, where its models or programs are started for a sweep's process,
    wait for batches, or are being searched for how many calls they take: two would each do so on their own."""
    resolved = context.resolved
    models = [resolved.model(role)[1] for role in ("task", *resolved.answer_roles)]
    alone = resolved.system_options.starts_programs or any(
        model.local or model.serve or model.limits.start or model.is_batched(context.phase) for model in models
    )
    if alone:
        return 1
    most = context.run.plan.config.runner.cores
    return max(1, min(most, models[0].limits.concurrency, math.ceil(samples / _WORTH)))


class _Spread:
    def __init__(self, context: CellContext, cases: Sequence[Case], system: Callable[..., Any], processes: int) -> None:
        self._context = context
        self._runtime = context.runtime
        self._cases = cases
        self._system = system
        self._helpers = helpers_of(self._runtime, context.run.plan.config.runner.cores)
        self._chosen = self._helpers.some(processes - 1)
        self._made: dict[str, Prediction] = {}
        self._done = 0
        self._portions: asyncio.Queue[list[Case] | None] = asyncio.Queue()
        size = max(1, context.resolved.model()[1].limits.concurrency // processes // _PORTIONS)
        for at in range(0, len(cases), size):
            self._portions.put_nowait(list(cases[at : at + size]))

    async def answers(self) -> list[Prediction]:
        own = {asyncio.create_task(self._work(self._by_itself)) for _ in range(_LANES)}
        helped = {asyncio.create_task(self._help(helper)) for helper in self._chosen}
        try:
            await self._until_done(own)
            await self._until_stopped(helped)
        finally:
            for task in own | helped:
                task.cancel()
            await asyncio.gather(*own, *helped, return_exceptions=True)
        self._runtime.check_stop(self._context.cell.id)
        return [self._made[case.sample_id] for case in self._cases]

    async def _until_done(self, own: set[asyncio.Task[None]]) -> None:
        """This process goes on until all is answered: it also takes what a helper left undone."""
        told, waiting = False, set(own)
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=_LOOK_S, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            if not told and self._stopped:
                told = True
                self._tell_stop()
                self._portions.put_nowait(None)

    async def _until_stopped(self, helped: set[asyncio.Task[None]]) -> None:
        """After a stop helpers have the same moment for their calls as this process; who is stopped by a budget waits
        for all that is paid for."""
        if self._stopped:
            grace = self._runtime.grace_s(self._context.cell.id)
            await asyncio.wait(helped, timeout=None if grace is None else grace + _PATIENCE_S)

    @property
    def _stopped(self) -> bool:
        return self._runtime.is_stopped(self._context.cell.id)

    def _tell_stop(self) -> None:
        everything, cell = self._runtime.stop_reason, self._context.cell.id
        try:
            self._runtime.check_stop(cell)
        except Exception as reason:
            for helper in self._chosen:
                if helper.alive:
                    helper.send("stop", cell=None if everything else cell, **told_stop(reason))

    async def _work(self, answer: Callable[[list[Case]], Any]) -> None:
        """Take portions until all samples are answered."""
        while not self._stopped:
            portion = await self._portions.get()
            if portion is None:
                self._portions.put_nowait(None)  # for the others
                return
            try:
                found: Sequence[Prediction] | None = await answer(portion)
            except BaseException:
                self._portions.put_nowait(portion)
                raise
            if found is None:
                return
            self._made.update({prediction.sample_id: prediction for prediction in found})
            if len(self._made) == len(self._cases):
                self._portions.put_nowait(None)

    async def _by_itself(self, portion: list[Case]) -> list[Prediction] | None:
        try:
            return await self._context.each_telling(portion, partial(predict, self._system), self._tell)
        except Exception:
            if not self._stopped:
                raise
            return None  # the reason is raised when all have had their moment

    def _tell(self, more: int = 1) -> None:
        self._done += more
        report(self._context.cell, self._context.phase, self._done, len(self._cases))

    async def _help(self, helper: Helper) -> None:
        while helper.may_start and not self._stopped:
            try:
                await self._helpers.ready(helper)
                await self._with(helper)
                return
            except HelperGone as error:
                await self._helpers.lost(helper, error)

    async def _with(self, helper: Helper) -> None:
        context, job = self._context, self._helpers.next_job()
        names = {"folder": str(context.run.folder), "cell": context.cell.id, "execution": context.execution}
        try:
            reply = await helper.call("open", job=job, asked=context.asked, **names)
            if "failed" in reply:
                told = "%s: answered in one process, for another cannot: %s"
                logger.warning(told, context.cell.title, reply["failed"])
                return
            helper.on_ledger = True
            async with self._helpers.at_work():
                await _together([self._work(partial(self._by, helper, job)) for _ in range(_LANES_AWAY)])
        finally:
            if helper.alive:
                helper.send("close", job=job)

    async def _by(self, helper: Helper, job: int, portion: list[Case]) -> list[Prediction] | None:
        """A portion by a helper; None where it was stopped, or did not manage."""
        reply = await helper.call("ask", job=job, samples=[case.sample_id for case in portion])
        if "done" in reply:
            self._tell(len(portion))
            return [read_prediction(row) for row in reply["done"]]
        if (stop := reply.get("stopped")) is None:
            # This process tries itself, and fails as one alone would, if it is not the helper's fault.
            logger.warning("%s: asked again in this process: %s", self._context.cell.title, reply["failed"])
            self._portions.put_nowait(portion)
        elif stop["everything"]:
            self._runtime.stop(stop_of(stop))
        else:
            self._runtime.stop_cell(self._context.cell.id, stop_of(stop))
        return None


async def _together(works: Sequence[Coroutine[Any, Any, None]]) -> None:
    """All at once; where one fails, the others are given up."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
