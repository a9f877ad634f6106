"""Bugs planted by hand, one a rule that once nobody guarded. `old` stands exactly once in `file`; a test checks that,
so that a rule is not lost when its code moves."""

from __future__ import annotations

from tests.mutants.bug import Planted
from tests.mutants.limiter import LIMITER
from tests.mutants.money import MONEY
from tests.mutants.recovery import RECOVERY
from tests.mutants.results import RESULTS

GROUPS: dict[str, tuple[Planted, ...]] = {
    "Money": MONEY,
    "Recovery": RECOVERY,
    "Limiter": LIMITER,
    "Results": RESULTS,
}
PLANTED: tuple[Planted, ...] = tuple(bug for bugs in GROUPS.values() for bug in bugs)


def table() -> str:
    """Rule -> tests, as tests/README.md shows it."""
    lines: list[str] = []
    for group, bugs in GROUPS.items():
        lines += [f"### {group}", "", "| rule | test |", "|---|---|"]
        lines += [f"| {bug.rule} | {'<br>'.join(f'`{_short(test)}`' for test in bug.tests)} |" for bug in bugs]
        lines.append("")
    return "\n".join(lines).rstrip()


def _short(test: str) -> str:
    return test.removeprefix("tests/")
