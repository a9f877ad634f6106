"""`make mutants`: plants bugs one at a time and asks the tests nearest to each whether they notice.

First every bug of the list (planted.py), each with the tests that must see it; then a sample of small changes to the
core, drawn by a seed. Ends with 1 if a planted bug survives or too many of the others do.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.mutants.asking import Question
from tests.mutants.changes import Change, changes, judged_equivalent
from tests.mutants.planted import PLANTED, Planted, table
from tests.mutants.reach import Asked, Reach, keep, read, read_kept
from tests.mutants.tree import ROOT, ask, changed, copied, put_switches, record, run_tests

ENOUGH = 0.85
"""The share of drawn changes, those judged equivalent left out, that must be noticed."""
_TESTS = ("tests/unit", "tests/golden")
_PATIENCE_S = 10.0
_NOT_ASKED = ("tests/unit/test_", "tests/unit/cli/test_docs")
"""About the tree itself, the tooling and the texts."""


def main() -> int:
    arguments = _arguments()
    if arguments.table:
        print(table())
        return 0
    planted = [bug for bug in PLANTED if arguments.only in f"{bug.rule} {bug.file}"] if arguments.planted else []
    with copied() as root:
        missed = [bug.rule for bug in planted if not _noticed(root, bug)]
        print(f"planted: {len(planted) - len(missed)} of {len(planted)} noticed")
        for rule in missed:
            print(f"  missed: {rule}")
        enough = not arguments.drawn or _drawn(root, arguments)
    return int(bool(missed) or not enough)


def _noticed(root: Path, bug: Planted) -> bool:
    began = time.monotonic()
    with changed(root, bug.file, bug.text(root)):
        fate, words = run_tests(root, bug.tests)
    if fate == "broken":
        raise SystemExit(f"{bug.rule}: the tests {', '.join(bug.tests)} cannot be run:\n{words}")
    print(f"{fate:8} {time.monotonic() - began:5.1f} s  {bug.rule}  [{words}]", flush=True)
    return fate == "killed"


def _drawn(root: Path, arguments: argparse.Namespace) -> bool:
    known, everything = judged_equivalent(), changes(root)
    again = Path(arguments.again).read_text(encoding="utf-8") if arguments.again else None
    places = [c for c in everything if arguments.only in c.file and (again is None or f"survived: {c.name}\n" in again)]
    chosen = random.Random(arguments.seed).sample(places, min(arguments.drawn, len(places)))
    chosen = [change for change in chosen if change.name not in known or arguments.equivalent]
    put_switches(root)
    asked = Asked(_reach(root, everything, arguments), everything, arguments.budget)
    survivors = _survivors(root, chosen, asked, arguments)
    killed = len(chosen) - len(survivors)
    for change in survivors:
        print(f"  survived: {change.name}")
    share = killed / len(chosen) if chosen else 1.0
    print(f"drawn: {killed} of {len(chosen)} noticed ({share:.0%}); judged equivalent and left out: {len(known)}")
    return share >= ENOUGH


def _reach(root: Path, everything: Sequence[Change], arguments: argparse.Namespace) -> Reach:
    """Which test runs what: from the record that is kept, and for tests that are named, or where none is kept, anew."""
    path = Path(arguments.reach) if arguments.reach else None
    kept = read_kept(path, everything) if path is not None and path.exists() else None
    modules = _test_modules(arguments.tests or (_TESTS if kept is None else ()))
    if kept is not None and not modules:
        return kept
    paths = [root / f"reach-{place}.json" for place in range(min(arguments.processes, len(modules)))]
    record(root, modules, paths)
    if kept is None and path is not None:
        keep(path, everything, read(paths))
    return {**(kept or {}), **read(paths)}


def _survivors(root: Path, chosen: Sequence[Change], asked: Asked, arguments: argparse.Namespace) -> list[Change]:
    by_number = {change.number: change for change in chosen}
    answers: dict[int, tuple[str, str]] = {}

    def tell(number: int, fate: str, by: str) -> None:
        answers[number] = fate, by
        print(f"{fate:8} {by_number[number].name}  [{by}]", flush=True)

    wrong = set[str]()
    left = [question for change in chosen if (question := asked.about(change)).tests]
    while left:
        left = [replace(question, tests=[test for test in question.tests if test not in wrong]) for question in left]
        ask(root, [q for q in left if not by_number[q.number].at_import], arguments.processes, tell)
        for question in left:
            if by_number[question.number].at_import:
                fate, words = run_tests(root, question.tests, question.number)
                tell(question.number, fate, words.removeprefix("FAILED ").partition(" - ")[0])
        found = _failing(root, {by for fate, by in answers.values() if fate == "killed"}, arguments.processes)
        print(f"fail without any change, and are not asked: {len(found)} tests {' '.join(sorted(found))}", flush=True)
        wrong |= found
        left = [question for question in left if answers[question.number][1] in found]
    return [change for change in chosen if answers.get(change.number, ("nobody runs it", ""))[0] != "killed"]


def _failing(root: Path, tests: set[str], processes: int) -> set[str]:
    """Those of tests that noticed changes that also fail where nothing is changed, asked in the same way."""
    named = {-place: test for place, test in enumerate(sorted(filter(_is_test, tests)), start=1)}
    found = set[str]()

    def tell(number: int, fate: str, by: str) -> None:
        if fate == "killed":
            found.add(named[number])

    ask(root, [Question(number, [test], _PATIENCE_S) for number, test in named.items()], processes, tell)
    return found


def _is_test(by: str) -> bool:
    """Else a module could not even be imported, or the tests did not end."""
    return by.startswith("tests/") and "::" in by


def _test_modules(asked: Sequence[str]) -> list[str]:
    found = [path for part in asked for path in sorted((ROOT / part).rglob("test_*.py")) or [ROOT / part]]
    return [name for path in found if not (name := str(path.relative_to(ROOT))).startswith(_NOT_ASKED)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--drawn", type=int, default=600, help="how many small changes to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only those whose rule or file contains this text")
    parser.add_argument("--tests", nargs="*", default=(), help="only tests of these folders or modules")
    parser.add_argument(
        "--reach", help="a file that keeps which test runs what; the tests of --tests are recorded anew"
    )
    parser.add_argument("--again", help="only the survivors that are named in this output of an earlier run")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests that a change is put to")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--equivalent", action="store_true", help="ask about those judged equivalent too")
    parser.add_argument("--no-planted", dest="planted", action="store_false", help="leave the list out")
    parser.add_argument("--table", action="store_true", help="print the table of tests/README.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
