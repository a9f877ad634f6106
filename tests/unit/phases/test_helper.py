"""What a helping process does with the requests of its parent: in this process, with a parent that a test plays."""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed import errors
from seedbed.errors import BudgetReached, SeedbedError, SweepStopped
from seedbed.phases import helper as module
from seedbed.phases.helper import LENGTH, Message, packed, stop_of, told_stop
from seedbed.suite import Answer, Case

PATIENCE_S = 5.0


def test_a_message_is_its_length_and_json() -> None:
    assert packed({"do": "end"}) == b'\x00\x00\x00\x0d{"do": "end"}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed({"score": float("nan")})


def test_the_reason_of_a_stop_travels_as_its_kind_and_its_words() -> None:
    told = told_stop(BudgetReached("past $1"))
    assert told == {"kind": "BudgetReached", "message": "past $1"}
    back = stop_of(told)
    assert (type(back), str(back)) == (BudgetReached, "past $1")
    assert type(stop_of({"kind": "KindOfLater", "message": "m"})) is SweepStopped


class Replies:
    """Standard output of a helper: what is flushed is there for the parent."""

    def __init__(self) -> None:
        self.came = queue.SimpleQueue[Message]()
        self._written = b""

    def write(self, data: bytes) -> None:
        self._written += data

    def flush(self) -> None:
        while self._written:
            (length,) = LENGTH.unpack(self._written[: LENGTH.size])
            body, self._written = self._written[LENGTH.size :][:length], self._written[LENGTH.size + length :]
            self.came.put(json.loads(body))


class Runtime:
    """Of the helper, with a loop of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.helps: list[tuple[int, bool]] = []
        self.stops: list[tuple[str | None, SeedbedError]] = []
        self.stop_reason: SeedbedError | None = None
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def help(self, processes: int, *, known: bool) -> None:
        self.helps.append((processes, known))

    def stop(self, reason: SeedbedError) -> None:
        self.stops.append((None, reason))

    def stop_cell(self, cell: str, reason: SeedbedError) -> None:
        self.stops.append((cell, reason))

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE_S)
        self.loop.close()


class Context:
    """A cell whose samples are answered as `Parent.answers` has it."""

    def __init__(self, parent: Parent, cell: Any, execution: str, asked: int | None) -> None:
        self.runtime, self.cell, self.execution, self.asked = parent.runtime, cell, execution, asked
        self.benchmark = SimpleNamespace(test=[Case("a", {}), Case("b", {}), Case("c", {})])
        self._parent = parent

    async def each_telling(self, cases: Sequence[Case], _work: Any, tell: Callable[[], None]) -> Any:
        tell()
        return await self._parent.answers([case.sample_id for case in cases])

    def close(self) -> None:
        self._parent.closed.append(self.cell.id)


class Parent:
    """Asks a helper, and reads what it replies."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runtime, self.replies = Runtime(), Replies()
        self.contexts: list[Context] = []
        self.closed: list[str] = []
        self.systems: list[str] = []
        self.ends: list[str] = []
        self.fails_to_open: Exception | None = None
        self.fails_to_build: Exception | None = None
        self.answers: Callable[[Sequence[str]], Any] = self.answer
        self._requests = queue.SimpleQueue[Message]()
        monkeypatch.setattr(module, "open_run", self._open_run)
        monkeypatch.setattr(module, "CellContext", self._context)
        monkeypatch.setattr(module, "opened_system", self._system)
        monkeypatch.setattr(module, "close_runtimes", lambda: self.ends.append(f"runtimes, {len(self.closed)} closed"))
        self.helper = module._Helper(self.replies)  # type: ignore[arg-type]  # pyright: ignore[reportPrivateUsage]
        self._thread = threading.Thread(target=self.helper.serve, args=(self._read(),), daemon=True)
        self._thread.start()

    async def answer(self, samples: Sequence[str]) -> list[Answer]:
        return [Answer(sample, {"answer": sample.upper()}) for sample in samples]

    def send(self, do: str, **fields: Any) -> None:
        self._requests.put({"do": do, **fields})

    def reply(self) -> Message:
        return self.replies.came.get(timeout=PATIENCE_S)

    def call(self, do: str, **fields: Any) -> Message:
        self.send(do, **fields)
        return self.reply()

    def begin(self, **more: Any) -> Message:
        return self.call("begin", **{"id": 0, "path": list(sys.path), "processes": 3, "known": True, **more})

    def open(self, job: int = 7, cell: str = "cell", **more: Any) -> Message:
        names = {"folder": "run", "execution": "e1", "asked": None}
        return self.call("open", id=job, job=job, cell=cell, **{**names, **more})

    def end(self) -> None:
        self.send("end")
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    @property
    def silent(self) -> bool:
        return self.replies.came.empty()

    def _read(self) -> Iterator[Message]:
        while True:
            yield self._requests.get()

    def _open_run(self, folder: str) -> Any:
        assert folder == "run"
        if self.fails_to_open is not None:
            raise self.fails_to_open
        plan = SimpleNamespace(cell=lambda name: SimpleNamespace(id=name))
        return SimpleNamespace(runtime=lambda: self.runtime, plan=plan)

    def _context(self, _run: Any, cell: Any, phase: str, *, execution: str, asked: int | None) -> Context:
        assert phase == "generate"
        self.contexts.append(Context(self, cell, execution, asked))
        return self.contexts[-1]

    @asynccontextmanager
    async def _system(self, context: Context) -> AsyncIterator[str]:
        if self.fails_to_build is not None:
            raise self.fails_to_build
        try:
            yield "system"
        finally:
            self.systems.append(context.cell.id)


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parent]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = Parent(monkeypatch)
    yield made
    made.runtime.close()


def test_a_helper_imports_from_where_its_parent_does(parent: Parent) -> None:
    path = [*sys.path, "/of/the/parent"]
    assert parent.begin(path=path) == {"id": 0, "done": True}
    assert sys.path == path


def test_a_helper_takes_its_part_of_what_all_processes_may_send(parent: Parent) -> None:
    parent.begin()
    parent.open()
    parent.begin(processes=2, known=False)
    parent.open(8)
    assert parent.runtime.helps == [(3, True), (2, False)]


def test_portions_of_an_open_cell_are_answered(parent: Parent) -> None:
    parent.begin()
    assert parent.open(asked=2) == {"id": 7, "done": True}
    (context,) = parent.contexts
    assert (context.cell.id, context.execution, context.asked) == ("cell", "e1", 2)
    reply = parent.call("ask", id=9, job=7, samples=["c", "a"])
    assert reply == {
        "id": 9,
        "done": [
            {"sample_id": "c", "output": {"answer": "C"}},
            {"sample_id": "a", "output": {"answer": "A"}},
        ],
    }
    parent.end()


def test_portions_are_answered_side_by_side(parent: Parent) -> None:
    parent.begin()
    parent.open()
    let_go = asyncio.Event()

    async def held(samples: Sequence[str]) -> list[Answer]:
        if "a" in samples:
            await let_go.wait()
        return await parent.answer(samples)

    parent.answers = held
    parent.send("ask", id=1, job=7, samples=["a"])
    assert parent.call("ask", id=2, job=7, samples=["b"])["id"] == 2, "though the first is not answered"
    parent.runtime.loop.call_soon_threadsafe(let_go.set)
    assert parent.reply()["id"] == 1


def test_a_cell_that_is_closed_gives_up_its_portions_before_its_system(parent: Parent) -> None:
    parent.begin()
    parent.open()
    asked = threading.Barrier(3)

    async def for_ever(samples: Sequence[str]) -> list[Answer]:
        parent.runtime.loop.run_in_executor(None, asked.wait, PATIENCE_S)
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0 if "a" in samples else 0.02)
            parent.systems.append(f"gave up {samples}")
        return []

    parent.answers = for_ever
    for sample in "ab":
        parent.send("ask", id=1, job=7, samples=[sample])
    asked.wait(PATIENCE_S)
    parent.send("close", job=7)
    parent.end()
    assert (parent.systems, parent.closed) == (["gave up ['a']", "gave up ['b']", "cell"], ["cell"])
    assert parent.silent, "nobody waits for a portion that was given up"


def test_a_stop_is_none_of_a_cell_that_was_closed(parent: Parent) -> None:
    parent.begin()
    parent.open(7, "one")
    parent.open(8, "two")
    parent.send("close", job=7)
    while not parent.closed:
        parent.call("ask", id=1, job=8, samples=["a"])
    parent.send("stop", cell="one", **told_stop(errors.CellFailed("too dear")))
    parent.end()
    assert parent.runtime.stops == []


def test_the_end_closes_cells_before_runtimes(parent: Parent) -> None:
    parent.begin()
    parent.open(7, "one")
    parent.open(8, "two")
    parent.end()
    assert sorted(parent.closed) == ["one", "two"]
    assert parent.ends == ["runtimes, 2 closed"]


def test_requests_for_cells_that_are_not_open_are_passed_over(parent: Parent) -> None:
    parent.begin()
    parent.send("ask", id=1, job=99, samples=["a"])
    parent.send("close", job=99)
    parent.send("sing", id=2)
    parent.open()
    parent.send("close", job=7)
    parent.send("close", job=7)
    parent.end()
    assert parent.silent
    assert parent.closed == ["cell"]


@pytest.mark.parametrize("where", ["fails_to_open", "fails_to_build"])
def test_a_cell_that_cannot_be_opened_here_is_told_without_secrets(
    parent: Parent, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")
    setattr(parent, where, ValueError("no such plugin, key sk-0123456789abcdef"))
    parent.begin()
    reply = parent.open()
    assert reply["id"] == 7
    assert reply["failed"].startswith("ValueError: no such plugin, key ")
    assert "0123456789" not in reply["failed"]
    setattr(parent, where, None)
    assert parent.open(8) == {"id": 8, "done": True}, "another may be"
    parent.end()


def test_a_portion_that_fails_is_told_and_the_next_is_answered(parent: Parent) -> None:
    async def fail(_samples: Sequence[str]) -> list[Answer]:
        raise ValueError("no idea")

    parent.begin()
    parent.open()
    parent.answers = fail
    assert parent.call("ask", id=1, job=7, samples=["a"]) == {"id": 1, "failed": "ValueError: no idea"}
    parent.answers = parent.answer
    assert "done" in parent.call("ask", id=2, job=7, samples=["a"])


@pytest.mark.parametrize("everything", [True, False])
def test_a_portion_that_a_stop_ends_tells_how_far_the_stop_goes(parent: Parent, everything: bool) -> None:
    reason = BudgetReached("past $1")

    async def stopped(_samples: Sequence[str]) -> list[Answer]:
        parent.runtime.stop_reason = reason if everything else None
        raise reason

    parent.begin()
    parent.open()
    parent.answers = stopped
    told = {"kind": "BudgetReached", "message": "past $1", "everything": everything}
    assert parent.call("ask", id=1, job=7, samples=["a"]) == {"id": 1, "stopped": told}


def test_a_stop_is_that_of_one_cell_or_of_all(parent: Parent) -> None:
    parent.begin()
    parent.open(7, "one")
    parent.open(8, "two")
    parent.send("stop", cell="two", **told_stop(errors.CellFailed("too dear")))
    parent.send("stop", cell="three", **told_stop(errors.CellFailed("unknown")))
    parent.send("stop", cell=None, **told_stop(BudgetReached("all")))
    parent.end()
    assert [(cell, type(reason).__name__, str(reason)) for cell, reason in parent.runtime.stops] == [
        ("two", "CellFailed", "too dear"),
        (None, "BudgetReached", "all"),
        (None, "BudgetReached", "all"),
    ]


def test_what_a_runtime_warns_of_when_it_is_made_is_left_to_the_parent(
    parent: Parent, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("seedbed")

    def made() -> Runtime:
        logger.warning("a model has no price")
        return parent.runtime

    parent.helper._runtime(made)  # pyright: ignore[reportPrivateUsage]
    logger.warning("a call failed")
    assert [record.getMessage() for record in caplog.records] == ["a call failed"]


def test_a_runtime_that_cannot_be_made_leaves_warnings_on(parent: Parent) -> None:
    def refuse() -> Runtime:
        raise ValueError("no ledger")

    with pytest.raises(ValueError, match="no ledger"):
        parent.helper._runtime(refuse)  # pyright: ignore[reportPrivateUsage]
    assert logging.getLogger("seedbed").isEnabledFor(logging.WARNING)
