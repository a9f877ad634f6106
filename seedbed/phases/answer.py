"""Putting cases to the system of a cell."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from seedbed.errors import staying
from seedbed.phases.context import CellContext
from seedbed.phases.optimise import load_program
from seedbed.phases.predict import predict
from seedbed.suite import Case, Prediction, resolve


async def answer_cases(context: CellContext, cases: Sequence[Case]) -> list[Prediction]:
    """Put cases to the cell's system, all at once; how each ended, in their order."""
    async with opened_system(context) as system:
        return await context.each(cases, partial(predict, system))


@asynccontextmanager
async def opened_system(context: CellContext) -> AsyncIterator[Callable[..., Any]]:
    """The cell's system, with its program where one was found, among the settings of DSPy that its calls need: ask it
    inside the block, or in tasks that are made there."""
    import dspy

    from seedbed.lm.adapter import quick_adapter

    resolved = context.resolved
    with (
        staying(),
        dspy.context(lm=context.lm("task"), adapter=quick_adapter(), disable_history=True, track_usage=False),
    ):
        system = resolve(resolved.system_spec.build)(context, resolved.system_options)
        if context.cell.optimised:
            load_program(system, context.folder)
        try:
            yield system
        finally:
            close = getattr(system, "aclose", None)
            if close is not None:
                await close()
