"""Processes that help: when they are started, what becomes of who dies, and which part of the limits they leave."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.phases import helpers as module
from seedbed.phases.helper import LENGTH, Message, packed
from seedbed.phases.helpers import Helper, HelperGone, Helpers, helpers_of


class Process:
    """Of the operating system, as far as a helper's parent sees it. `replies` says what it answers, None: nothing."""

    def __init__(self, replies: Callable[[Message], Message | None]) -> None:
        self.stdin, self.stdout = self, asyncio.StreamReader()
        self.asked: list[Message] = []
        self.kills = 0
        self.stays = False
        """Whether it does not end by being asked to."""
        self.closed_input = False
        self._replies = replies
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def write(self, data: bytes) -> None:
        if self.closed_input:
            raise BrokenPipeError
        (length,) = LENGTH.unpack(data[: LENGTH.size])
        request = json.loads(data[LENGTH.size :])
        assert length == len(data) - LENGTH.size
        self.asked.append(request)
        if request["do"] == "end":
            if not self.stays:
                asyncio.get_running_loop().call_soon(self.end, 0)
        elif (reply := self._replies(request)) is not None:
            self.say({"id": request["id"], **reply})

    def say(self, reply: Message) -> None:
        self.stdout.feed_data(packed(reply))

    @property
    def ended(self) -> bool:
        return self._ended.done()

    def end(self, code: int) -> None:
        if not self.ended:
            self._ended.set_result(code)
            self.stdout.feed_eof()

    def kill(self) -> None:
        self.kills += 1
        if self.ended:
            raise ProcessLookupError
        asyncio.get_running_loop().call_soon(self.end, -signal.SIGKILL)

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)


class System:
    """Where processes are started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processes: list[Process] = []
        self.commands: list[tuple[Any, ...]] = []
        self.refuses: OSError | None = None
        self.replies: Callable[[Message], Message | None] = lambda request: {"done": True}
        monkeypatch.setattr(module.asyncio, "create_subprocess_exec", self._start)

    async def _start(self, *command: str, **_: Any) -> Process:
        if self.refuses is not None:
            raise self.refuses
        await asyncio.sleep(0)
        self.commands.append(command)
        self.processes.append(Process(self.replies))
        return self.processes[-1]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    return System(monkeypatch)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def patient() -> None:
        async with asyncio.timeout(10):
            await work()

    asyncio.run(patient())


def test_a_helper_is_started_once_and_told_how_to_begin(system: System) -> None:
    async def work() -> None:
        helper = Helper()
        assert (helper.alive, helper.may_start, helper.on_ledger) == (False, True, False)
        await asyncio.gather(helper.ready(processes=3, known=True), helper.ready(processes=3, known=True))
        assert system.commands == [(sys.executable, "-m", "seedbed.phases.helper")]
        (begin,) = system.processes[0].asked
        assert begin == {"do": "begin", "id": 0, "path": sys.path, "processes": 3, "known": True}
        assert (helper.alive, helper.may_start, helper.on_ledger) == (True, True, False)
        helper.on_ledger = True
        await helper.ready()
        assert (len(system.processes), helper.on_ledger) == (1, True)
        await helper.end()

    run(work)


def test_each_call_gets_its_own_reply(system: System) -> None:
    async def work() -> None:
        helper = Helper()
        await helper.ready()
        (process,) = system.processes
        process._replies = lambda _: None  # pyright: ignore[reportPrivateUsage]
        calls = [asyncio.create_task(helper.call("ask", job=job)) for job in (4, 5, 6)]
        await settled()
        numbers = [request["id"] for request in process.asked[1:]]
        assert [request["job"] for request in process.asked[1:]] == [4, 5, 6]
        calls[1].cancel()
        await settled()
        process.say({"id": 99, "done": 0})
        for number in reversed(numbers):
            process.say({"id": number, "done": number})
        assert await calls[0] == {"id": numbers[0], "done": numbers[0]}
        assert await calls[2] == {"id": numbers[2], "done": numbers[2]}
        assert helper._waiting == {}, "nothing is kept of calls that ended"  # pyright: ignore[reportPrivateUsage]
        assert helper.alive
        await helper.end()

    run(work)


@pytest.mark.parametrize(("code", "told"), [(3, "exit code 3"), (0, "exit code 0"), (-signal.SIGKILL, "SIGKILL")])
def test_who_waits_for_a_helper_that_dies_is_told_how(system: System, code: int, told: str) -> None:
    async def work() -> None:
        helper = Helper()
        await helper.ready()
        system.processes[0]._replies = lambda _: None  # pyright: ignore[reportPrivateUsage]
        calls = [asyncio.create_task(helper.call("ask")) for _ in range(2)]
        await settled()
        calls[0].cancel()
        system.processes[0].end(code)
        with pytest.raises(HelperGone, match=rf"^a helping process has ended \({told}\)$"):
            await calls[1]
        await settled()
        assert not helper.alive
        with pytest.raises(HelperGone, match=r"^a helping process has ended$"):
            helper.send("close", job=1)
        await helper.end()

    run(work)


def test_a_helper_that_dies_three_times_is_not_started_again(system: System) -> None:
    async def work() -> None:
        helper = Helper()
        for start in (1, 2, 3):
            assert helper.may_start
            await helper.ready()
            assert (helper.on_ledger, len(system.processes)) == (False, start), "a newcomer is not there yet"
            helper.on_ledger = True
            assert helper.may_start, "it is at work"
            system.processes[-1].end(1)
            await settled()
        assert not helper.may_start
        await helper.end()

    run(work)


def test_a_helper_that_cannot_be_started_is_told(system: System) -> None:
    async def work() -> None:
        helper, system.refuses = Helper(), OSError("too many processes")
        with pytest.raises(HelperGone, match=r"could not be started \(too many processes\)"):
            await helper.ready()
        assert not helper.alive
        await helper.end()

    run(work)


def test_a_helper_at_work_ends_by_itself_and_one_that_never_came_to_it_is_killed(system: System) -> None:
    async def work() -> None:
        at_work, idle = Helper(), Helper()
        for helper in (at_work, idle):
            await helper.ready()
        at_work.on_ledger = True
        first, second = system.processes
        await at_work.end()
        assert first.ended
        await idle.end()
        assert second.ended
        assert (first.kills, first.asked[-1]) == (0, {"do": "end"})
        assert second.kills == 1
        first.closed_input = True
        await at_work.end()
        await idle.end()
        await settled()
        assert (at_work.alive, idle.alive) == (False, False)

    run(work)


def test_a_helper_that_does_not_end_is_killed(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_END_S", 0.01)

    async def work() -> None:
        helper = Helper()
        await helper.ready()
        helper.on_ledger = True
        system.processes[0].stays = True
        await helper.end()
        assert (system.processes[0].kills, system.processes[0].ended) == (1, True)

    run(work)


class Runtime:
    def __init__(self, peers: int = 1) -> None:
        self.ledger = SimpleNamespace(look_around=self._look_around)
        self.peers, self.looks = peers, 0
        self.parts: list[tuple[int, int]] = []
        self.kept: dict[str, Any] = {}

    def _look_around(self) -> int:
        self.looks += 1
        return self.peers

    async def divide(self, processes: int, members: int) -> None:
        self.parts.append((processes, members))

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        return self.kept.setdefault(name, make())


def of(runtime: Runtime, processes: int = 3) -> Helpers:
    return Helpers(runtime, processes)  # type: ignore[arg-type]


def test_all_processes_but_this_one_are_helpers() -> None:
    helpers = of(Runtime())
    assert len(helpers.some(9)) == 2
    assert helpers.some(1) == helpers.some(9)[:1]
    assert [helpers.next_job(), helpers.next_job()] == [0, 1]


def test_helpers_are_those_of_a_runtime() -> None:
    runtime: Any = Runtime()
    assert helpers_of(runtime, 3) is helpers_of(runtime, 3)
    assert list(runtime.kept) == ["helpers"]
    assert len(runtime.kept["helpers"].some(9)) == 2


@pytest.mark.parametrize(("peers", "known"), [(1, True), (2, False)])
def test_a_newcomer_is_known_where_nobody_else_is_on_the_ledger(system: System, peers: int, known: bool) -> None:
    async def work() -> None:
        runtime = Runtime(peers)
        helpers = of(runtime)
        first, second = helpers.some(2)
        await helpers.ready(first)
        begin = system.processes[0].asked[0]
        assert (begin["processes"], begin["known"]) == (3, known)
        await helpers.ready(first)
        assert (runtime.looks, len(system.processes)) == (1, 1)
        first.on_ledger = True
        runtime.peers += 1
        await helpers.ready(second)
        assert system.processes[1].asked[0]["known"] is known, "the first helper is no stranger"
        await helpers.aclose()
        assert [process.asked[-1]["do"] for process in system.processes] == ["end", "end"]

    run(work)


def test_this_process_keeps_to_its_part_while_any_helper_is_at_work(system: System) -> None:
    async def work() -> None:
        runtime = Runtime()
        helpers = of(runtime)
        first, second = helpers.some(2)
        for helper in (first, second):
            await helpers.ready(helper)
        first.on_ledger = True
        async with helpers.at_work():
            assert runtime.parts == [(3, 2)], "one of the two is not on the ledger yet"
            second.on_ledger = True
            async with helpers.at_work():
                assert runtime.parts[1:] == [(3, 3)]
            assert len(runtime.parts) == 2, "the other is still at work"
            system.processes[1].end(1)
            await settled()
        assert runtime.parts[2:] == [(1, 2)]
        with pytest.raises(ValueError, match="any"):
            async with helpers.at_work():
                raise ValueError("any")
        assert runtime.parts[3:] == [(3, 2), (1, 2)]
        await helpers.aclose()

    run(work)


def test_a_loss_is_told_and_looked_for_on_the_ledger(system: System, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        runtime = Runtime()
        helpers = of(runtime)
        (helper,) = helpers.some(1)
        await helpers.lost(helper, HelperGone("a helping process has ended (SIGKILL)"))
        assert runtime.looks == 1
        for _ in range(3):
            await helper.ready()
            system.processes[-1].end(1)
            await settled()
        await helpers.lost(helper, HelperGone("a helping process has ended (exit code 1)"))

    run(work)
    again = "; its samples are asked again, what was paid for is reused"
    assert [record.getMessage() for record in caplog.records] == [
        f"a helping process has ended (SIGKILL){again}",
        f"a helping process has ended (exit code 1){again}",
        "it ended 3 times and is not started again",
    ]
