"""A budget of CPU seconds for a run of tests: `-p tests.support.cpu_budget --cpu-budget 60`.

Seconds of CPU, of pytest and of the processes it started, and not of a clock: a busy machine hardly changes them. A run
that passes its budget fails and names the tests that used most, so that the fast tests stay fast. The processes that
`-n` starts tell the one that started them.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

SHOWN = 10
USED = pytest.StashKey[Counter[str]]()
_TOLD = "cpu_used"


def used_s() -> float:
    """User and system seconds of this process and of its children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-budget", type=float, metavar="SECONDS", help="fail a run that uses more CPU than this")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[USED] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = used_s()
    try:
        return (yield)
    finally:
        item.config.stash[USED][item.nodeid] += used_s() - before


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[USED].update(dict(getattr(node, "workeroutput", {}).get(_TOLD, ())))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """After the processes that `-n` started have ended."""
    told: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if told is not None:
        told[_TOLD] = session.config.stash[USED].most_common(SHOWN)
        return
    budget = session.config.getoption("cpu_budget")
    if budget is not None and exitstatus == pytest.ExitCode.OK and used_s() > budget:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    budget, used = config.getoption("cpu_budget"), used_s()
    if budget is None:
        return
    terminalreporter.write_line(f"{used:.0f} s of CPU, of {budget:.0f} s that these tests may use")
    if used > budget:
        terminalreporter.write_line("Speed up what costs most, or mark it slow:", red=True)
        for name, seconds in config.stash[USED].most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:8.2f} s  {name}")
