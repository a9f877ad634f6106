"""Puts changes to their tests: a run of pytest collects the tests once, and is forked for every change."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import Postgres, missing
from tests.support.s3 import S3Server

_PATIENCE_S = 30.0
_TIMES = 5
"""A change may slow its tests down; one that hangs them is waited for no longer than that many times what they take."""
_LOOK_S = 0.01
_FAILED, _PASSED = 1, 0


@dataclass(frozen=True)
class Question:
    number: int
    tests: Sequence[str]
    seconds: float
    """What the tests take without any change."""


class Asker:
    """A plugin of pytest that runs no tests of its own process. Several share one pipe of numbers."""

    def __init__(self, questions: dict[int, Question], numbers: int, answers: Path) -> None:
        self._questions = questions
        self._numbers = numbers
        self._answers = answers
        self._failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        own = Path(session.config._tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
        with _servers(session):
            while word := os.read(self._numbers, 4):
                question = self._questions[struct.unpack("i", word)[0]]
                fate, by = self._ask(session, question, [items[test] for test in question.tests if test in items], own)
                with self._answers.open("a") as file:
                    file.write(json.dumps({"number": question.number, "fate": fate, "by": by}) + "\n")
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def _ask(self, session: pytest.Session, question: Question, items: list[pytest.Item], own: Path) -> tuple[str, str]:
        said, folder = own / f"{os.getpid()}.said", own / f"{os.getpid()}-{question.number}"
        said.write_text("")
        pid = os.fork()
        if pid == 0:
            self._be_asked(session, question.number, items, said, folder)
        try:
            code = _ended(pid, _PATIENCE_S + _TIMES * question.seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if code is None:
            return "killed", "did not end"
        return ("survived" if code == _PASSED else "killed"), said.read_text()

    def _be_asked(
        self, session: pytest.Session, number: int, items: list[pytest.Item], said: Path, folder: Path
    ) -> None:
        code = _FAILED
        try:
            os.setsid()
            from seedbed import _switch  # type: ignore[attr-defined]

            _switch.ACTIVE[0] = number
            os.environ["SEEDBED_CHANGE"] = str(number)
            folder.mkdir()
            session.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed:
                    break
            code = _FAILED if self._failed else _PASSED
            said.write_text(self._failed)
        except BaseException as error:
            said.write_text(repr(error)[:200])
        finally:
            os._exit(code)


@contextmanager
def _servers(session: pytest.Session) -> Iterator[None]:
    """The servers that tests share, started once for all questions: a fork finds the fixture as made."""
    used = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    # A database for each test of a ledger is asked for by its parameter only.
    wanted = {"s3": S3Server} if "s3" in used else {}
    wanted |= {"postgres": Postgres} if {"postgres", "each_ledger"} & used and missing() is None else {}
    with ExitStack() as stack:
        for name, make in wanted.items():
            server = stack.enter_context(make())
            manager: Any = session._fixturemanager  # pyright: ignore[reportPrivateUsage]
            for fixture in manager.getfixturedefs(name, session) or ():
                fixture.cached_result = (server, None, None)
        yield


def _ended(pid: int, patience_s: float) -> int | None:
    """The exit code of a child that leads its group, none of which is left; None for one that had to be ended."""
    deadline, code = time.monotonic() + patience_s, None
    while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_S)
    else:
        code = os.waitstatus_to_exitcode(ended[1])
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if code is None:
        os.waitpid(pid, 0)
    return code
