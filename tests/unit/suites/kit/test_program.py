"""Systems that optimizers call from threads do their asynchronous work where calls are made."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.errors import Interrupted
from seedbed.lm.attempts import Binding
from seedbed.lm.lm import SeedbedLM
from seedbed.suites.kit.program import Program
from tests.support import lm
from tests.support.loopback import Loopback

ASIDE = ContextVar("ASIDE", default="nothing")


class Noting(Program):
    def __init__(self) -> None:
        super().__init__()
        self.loops: list[Any] = []

    async def aforward(self, question: str) -> dspy.Prediction:
        self.loops.append(asyncio.get_running_loop())
        replies = await asyncio.gather(*(dspy.settings.lm.acall(f"{question} {n}") for n in range(2)))
        return dspy.Prediction(answer=len(replies), aside=ASIDE.get())


def test_it_runs_on_the_loop_of_the_calls_with_what_its_thread_has_in_mind(tmp_path: Path) -> None:
    with Loopback() as server, lm.runtime(tmp_path, server) as runtime:
        program = Noting()

        def ask(number: int) -> dspy.Prediction:
            ASIDE.set(f"thread {number}")
            with dspy.context(lm=SeedbedLM(runtime, Binding(lm.scope(), lm.model(server))), disable_history=True):
                return program(question=f"q{number}")

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, range(8)))
        assert {id(loop) for loop in program.loops} == {id(runtime.loop)}
        assert [(a.answer, a.aside) for a in answers] == [(2, f"thread {n}") for n in range(8)]
        assert lm.assert_books_agree(tmp_path, server).calls == 16


@pytest.mark.slow
def test_work_that_waits_is_given_up_after_a_stop(tmp_path: Path) -> None:
    class Waiting(Program):
        async def aforward(self) -> dspy.Prediction:
            runtime.stop(Interrupted("Ctrl-C"))
            await asyncio.Event().wait()
            return dspy.Prediction()

    with Loopback() as server, lm.runtime(tmp_path, server) as runtime:
        asked = SeedbedLM(runtime, Binding(lm.scope(), lm.model(server)))
        with dspy.context(lm=asked), pytest.raises(Interrupted, match="Ctrl-C"):
            Waiting()()


def test_with_another_model_it_has_a_loop_of_its_own() -> None:
    class Alone(Program):
        async def aforward(self) -> dspy.Prediction:
            return dspy.Prediction(answer=asyncio.get_running_loop())

    assert Alone()().answer.is_closed()
