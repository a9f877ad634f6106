"""The parts of a cell that is spread over processes, as a test plays them: models, a runtime, a context, helpers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from seedbed.errors import SeedbedError
from seedbed.phases.helpers import HelperGone
from seedbed.suite import Answer, Case, Prediction


class Model(SimpleNamespace):
    def is_batched(self, phase: str) -> bool:
        assert phase == "generate"
        return self.batched


def model(concurrency: int = 64, **more: Any) -> Model:
    start = more.pop("start", None)
    known = {"local": False, "serve": None, "batched": False, **more}
    return Model(limits=SimpleNamespace(concurrency=concurrency, start=start), **known)


class Runtime:
    def __init__(self) -> None:
        self.stop_reason: SeedbedError | None = None
        self.cells: dict[str, SeedbedError] = {}
        self.grace: float | None = 0.0

    def stop(self, reason: SeedbedError) -> None:
        self.stop_reason = self.stop_reason or reason

    def stop_cell(self, cell: str, reason: SeedbedError) -> None:
        self.cells.setdefault(cell, reason)

    def is_stopped(self, cell: str) -> bool:
        return (self.stop_reason or self.cells.get(cell)) is not None

    def check_stop(self, cell: str) -> None:
        if (reason := self.stop_reason or self.cells.get(cell)) is not None:
            raise reason

    def grace_s(self, cell: str) -> float | None:
        assert self.is_stopped(cell)
        return self.grace


class Context:
    """A cell; `answers` is how this process answers a portion."""

    def __init__(self, *models: Model, cores: int = 3, starts_programs: bool = False) -> None:
        self.runtime, self.phase, self.execution, self.asked = Runtime(), "generate", "e1", 12
        self.cell = SimpleNamespace(id="cell", title="the cell")
        config = SimpleNamespace(runner=SimpleNamespace(cores=cores))
        self.run = SimpleNamespace(folder="run", plan=SimpleNamespace(config=config))
        roles = [f"role{number}" for number in range(1, len(models))]
        by_role = dict(zip(["task", *roles], [("m", own) for own in models], strict=True))
        self.resolved = SimpleNamespace(
            answer_roles=tuple(roles),
            model=lambda role="task": by_role[role],
            system_options=SimpleNamespace(starts_programs=starts_programs),
        )
        self.portions: list[list[str]] = []
        self.gate: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0)

    async def each_telling(self, cases: Sequence[Case], _work: Any, tell: Callable[[], None]) -> list[Prediction]:
        await self.gate()
        self.portions.append([case.sample_id for case in cases])
        for _ in cases:
            tell()
        return [Answer(case.sample_id, {"by": "itself"}) for case in cases]


class Helper:
    """A helping process as its parent sees it; `portion` is what it replies to samples."""

    def __init__(self, portion: Callable[[list[str]], Any] | None = None, opening: Any = None) -> None:
        self.alive, self.on_ledger, self.starts = True, False, 3
        self.opening = opening or {"done": True}
        self.portion = portion or (lambda samples: {"done": rows(samples)})
        self.opened: list[Any] = []
        self.asked: list[list[str]] = []
        self.sent: list[tuple[str, Any]] = []

    @property
    def may_start(self) -> bool:
        return self.alive or self.starts > 0

    async def call(self, do: str, **fields: Any) -> Any:
        await asyncio.sleep(0)
        if do == "open":
            self.opened.append(fields)
            return self.opening
        assert do == "ask"
        self.asked.append(fields["samples"])
        reply = self.portion(fields["samples"])
        return await reply if asyncio.iscoroutine(reply) else reply

    def send(self, do: str, **fields: Any) -> None:
        assert self.alive
        self.sent.append((do, fields))


def rows(samples: Sequence[str]) -> list[dict[str, Any]]:
    return [asdict(Answer(sample, {"by": "helper"})) for sample in samples]


class Helpers:
    def __init__(self, *helpers: Helper) -> None:
        self._all = helpers
        self.wanted: list[int] = []
        self.losses: list[str] = []
        self.at_work_now, self.most_at_work = 0, 0

    def some(self, number: int) -> Sequence[Helper]:
        self.wanted.append(number)
        return self._all[:number]

    def next_job(self) -> int:
        return 7

    async def ready(self, helper: Helper) -> None:
        if not helper.alive:
            helper.starts -= 1
            helper.alive = True

    async def lost(self, helper: Helper, error: HelperGone) -> None:
        self.losses.append(str(error))

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        self.at_work_now += 1
        self.most_at_work = max(self.most_at_work, self.at_work_now)
        try:
            yield
        finally:
            self.at_work_now -= 1
