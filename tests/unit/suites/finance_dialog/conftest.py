"""The suite's agents before the offline model: nothing is faked but the network."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, Response, ServerError, TextPart, Usage

from seedbed.errors import ProviderError
from seedbed.lm.types import Attempt, JsonDict
from seedbed.offline import OfflineOptions, OfflineProvider
from seedbed.phases.predict import predict
from seedbed.suite import Benchmark, Case, Prediction, SampleUsage, resolve
from seedbed.suites.finance_dialog.cases import load_dialogues
from seedbed.suites.finance_dialog.options import DialogueOptions
from seedbed.sweep.registry import get_suite

SUITE = get_suite("finance_dialog")


class OfflineEngine:
    """DSPy's async engine around the offline provider, keeping what was sent."""

    def __init__(self, **options: Any) -> None:
        self.provider = OfflineProvider("offline/test", OfflineOptions(**{"ability": 1.0, "noise": 0.0, **options}))
        self.bodies: list[JsonDict] = []

    async def complete(self, request: Any) -> Response:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        messages += [{"role": m.role, "content": "".join(part.text for part in m.parts)} for m in request.messages]
        body: JsonDict = {"model": request.model, "messages": messages, "temperature": 0.0}
        self.bodies.append(body)
        key = hashlib.sha256(json.dumps(body, ensure_ascii=False).encode()).hexdigest()
        try:
            completion = await self.provider.chat(body, Attempt(key, None, 0, 1, 5.0))
        except ProviderError as error:
            raise ServerError(error.message) from error
        text = completion["choices"][0]["message"]["content"]
        return Response(
            id=None,
            model="offline/test",
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(1, 1, 2),
        )


class FromThreads:
    """The same for callers in threads, such as a package that knows nothing of our loop."""

    def __init__(self, engine: OfflineEngine) -> None:
        self.engine = engine

    def complete(self, request: Any) -> Response:
        return asyncio.run(self.engine.complete(request))


@dataclass
class LocalContext:
    """What a phase gives a system and a scorer, without a sweep around it."""

    benchmark: Benchmark
    folder: Path
    engine: OfflineEngine = field(default_factory=OfflineEngine)
    seed: int = 0

    @property
    def cache_dir(self) -> Path:
        return self.folder

    def lm(self, role: str = "task") -> dspy.LM:
        return dspy.LM(
            "offline/test", engine=FromThreads(self.engine), async_engine=self.engine, cache=False, num_retries=0
        )

    async def each(self, cases: Sequence[Case], work: Callable[[Case], Awaitable[Any]]) -> list[Any]:
        return list(await asyncio.gather(*(work(case) for case in cases)))

    def sample_usage(self) -> Mapping[str, SampleUsage]:
        return {}


class Bench:
    """Plays systems on dialogues and scores them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def context(self, path: Path | None = None, *, limit: int | None = None, **model: Any) -> LocalContext:
        benchmark = load_dialogues(DialogueOptions(path=path, limit=limit))
        return LocalContext(benchmark, self.folder, OfflineEngine(**model))

    def play(self, context: LocalContext, system: str, **options: Any) -> dict[str, Prediction]:
        async def run() -> dict[str, Prediction]:
            spec = SUITE.systems[system]
            with dspy.context(lm=context.lm(), adapter=dspy.ChatAdapter(), disable_history=True):
                built = resolve(spec.build)(context, resolve(spec.options)(**options))
                answers = await context.each(context.benchmark.test, lambda case: predict(built, case))
            return {answer.sample_id: answer for answer in answers}

        return asyncio.run(run())

    def score(self, context: LocalContext, predictions: Mapping[str, Prediction]) -> list[Any]:
        return asyncio.run(resolve(SUITE.score)(context, context.benchmark.test, predictions))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
