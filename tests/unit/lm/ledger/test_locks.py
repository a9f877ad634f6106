"""Locks in the ledger: one at a time, a dead owner's is taken over, a living one's never."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event, update
from sqlalchemy.exc import OperationalError

from seedbed.errors import Interrupted
from seedbed.lm.ledger.database import DEAD_AFTER_S
from seedbed.lm.ledger.locks import LockLost, hold
from seedbed.lm.ledger.schema import locks, owners
from seedbed.lm.ledger.writer import Ledger
from tests.support import lm

pytestmark = [pytest.mark.usefixtures("each_ledger"), pytest.mark.slow]

HOLDER = """
import sys, time
from seedbed.lm.ledger.locks import hold
from seedbed.lm.ledger.writer import Ledger
ledger = Ledger(sys.argv[1], list_price=lambda model, usage: None)
with hold(ledger, "cell", lambda: None):
    print("held", flush=True)
    sys.stdin.readline()
print("given back", flush=True)
ledger.close()
"""


@contextmanager
def opened(folder: Path) -> Iterator[Ledger]:
    ledger = Ledger(lm.ledger_url(folder), list_price=lambda model, usage: None)
    try:
        yield ledger
    finally:
        ledger.close()


@contextmanager
def held_elsewhere(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that holds the lock until it is told to end, or is ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, lm.ledger_url(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


class Patience:
    """Gives up waiting after so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise Interrupted("waited long enough")


def never() -> None:
    raise AssertionError("there was nothing to wait for")


def test_a_living_owner_keeps_its_lock_and_a_stop_ends_the_wait(tmp_path: Path) -> None:
    with (
        held_elsewhere(tmp_path),
        opened(tmp_path) as ledger,
        pytest.raises(Interrupted),
        hold(ledger, "cell", Patience(3)),
    ):
        pass


def test_a_lock_given_back_is_had_by_the_next(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as process, opened(tmp_path) as ledger:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        with hold(ledger, "cell", Patience(60)) as check:
            check()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as process, opened(tmp_path) as ledger:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with hold(ledger, "cell", Patience(2)) as check:
            check()


def test_the_lock_of_another_host_is_taken_over_after_its_silence(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger, held_elsewhere(tmp_path) as process:
        # No heartbeat comes from a process that is stopped, and here its number says nothing.
        process.send_signal(signal.SIGSTOP)
        others = update(owners).where(owners.c.id != ledger.owner)
        with ledger.engine.begin() as connection:
            connection.execute(others.values(host="other/boot/processes"))
        with pytest.raises(Interrupted), hold(ledger, "cell", Patience(1)):
            pass
        with ledger.engine.begin() as connection:
            connection.execute(others.values(seen_at=owners.c.seen_at - DEAD_AFTER_S))
        with hold(ledger, "cell", Patience(1)) as check:
            check()


def test_two_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    """Each keeps the lock until another has looked for it and found it held."""
    inside: list[int] = []
    looked = threading.Semaphore(0)

    def work(ledger: Ledger, number: int) -> None:
        with hold(ledger, "cell", looked.release) as check:
            inside.append(number)
            if len(set(inside)) < 3:
                assert looked.acquire(timeout=600), "nobody else wants it"
            check()
            assert inside[-1] == number, "another came in"

    with opened(tmp_path) as ledger, ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, ledger, number) for number in range(3)]:
            done.result(timeout=1200)
    assert sorted(inside) == [0, 1, 2]


def test_locks_of_other_names_do_not_meet(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger, hold(ledger, "one", never), hold(ledger, "two", never):
        pass


def test_who_was_taken_for_dead_is_told_before_it_writes(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger, hold(ledger, "cell", never) as check:
        check()
        with ledger.engine.begin() as connection:
            connection.execute(update(locks).values(token="another's"))
        with pytest.raises(LockLost, match="another worker took over"):
            check()


def test_a_server_that_is_started_anew_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking, checking and giving back: a restart of some seconds in any of them fails no cell."""
    monkeypatch.setattr("seedbed.lm.ledger.locks._PAUSES_S", (0.0, 0.0))
    gone = OperationalError("a look", None, Exception("the server is starting up"))
    refusals = iter([gone, gone])

    def refuse_some(*_: object) -> None:
        if (error := next(refusals, None)) is not None:
            raise error

    with opened(tmp_path) as ledger:
        event.listen(ledger.engine, "before_cursor_execute", refuse_some)
        with hold(ledger, "cell", lambda: None) as check:
            refusals = iter([gone, gone])
            check()
            refusals = iter([gone, gone])
        assert next(refusals, None) is None
        with hold(ledger, "cell", lambda: None):
            pass
        refusals = iter([gone] * 3)
        with pytest.raises(OperationalError), hold(ledger, "cell", lambda: None):
            pass
        refusals = iter(())
