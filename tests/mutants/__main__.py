"""`make mutants`: plants bugs one at a time and asks the tests nearest to each whether they notice.

First every bug of the list (planted/), each with the tests that must see it; then a sample of small changes to the
core, drawn by a seed. Ends with 1 if a planted bug survives or too many of the others do.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.mutants.drawn import Mutant, core_files, draw, judged_equivalent
from tests.mutants.planted import PLANTED, Planted, table
from tests.mutants.reach import Reach, read
from tests.mutants.tree import changed, copied, record, run_tests

ENOUGH = 0.85
"""The share of drawn mutants, those judged equivalent left out, that must be noticed."""


_KILLERS: set[str] = set()


def main() -> int:
    arguments = _arguments()
    if arguments.table:
        print(table())
        return 0
    planted = [bug for bug in PLANTED if arguments.only in f"{bug.rule} {bug.file}"] if arguments.planted else []
    with copied() as root:
        missed = [bug.rule for bug in planted if not _noticed(root, bug)]
        reach = _reach(root, arguments.reach or root / "reach.json") if arguments.drawn else {}
        drawn = draw(root, reach, arguments.drawn, arguments.seed, arguments.only)
        survivors = [mutant for mutant in drawn if not _killed(root, mutant)]
        _check_killers(root)
    print(f"\nplanted: {len(planted) - len(missed)} of {len(planted)} noticed")
    for rule in missed:
        print(f"  missed: {rule}")
    return int(bool(missed) or not _enough(drawn, survivors))


def _reach(root: Path, file: Path) -> Reach:
    if not file.exists():
        record(root, core_files(root), file)
    return read(file)


def _enough(drawn: list[Mutant], survivors: list[Mutant]) -> bool:
    known = judged_equivalent()
    open_ones = [mutant for mutant in survivors if mutant.name not in known]
    counted = [mutant for mutant in drawn if mutant.name not in known]
    killed = len(counted) - len(open_ones)
    share = killed / len(counted) if counted else 1.0
    print(f"drawn: {killed} of {len(counted)} noticed ({share:.0%}), {len(drawn) - len(counted)} judged equivalent")
    for mutant in open_ones:
        print(f"  survived: {mutant.name}")
    return share >= ENOUGH


def _noticed(root: Path, bug: Planted) -> bool:
    return _report(root, bug.rule, bug.file, bug.text(root), bug.tests)


def _killed(root: Path, mutant: Mutant) -> bool:
    return _report(root, mutant.name, mutant.file, mutant.text, mutant.tests)


def _check_killers(root: Path) -> None:
    """A test that fails without any bug has noticed nothing."""
    fate, words = run_tests(root, sorted(_KILLERS)) if _KILLERS else ("survived", "")
    if fate != "survived":
        raise SystemExit(f"a test that noticed bugs fails without any: {words}")


def _report(root: Path, name: str, file: str, text: str, tests: tuple[str, ...]) -> bool:
    began = time.monotonic()
    with changed(root, file, text):
        fate, words = run_tests(root, tests)
    if fate == "broken":
        raise SystemExit(f"{name}: the tests {', '.join(tests)} cannot be run:\n{words}")
    if fate == "killed" and words.startswith("FAILED "):
        _KILLERS.add(words.removeprefix("FAILED ").partition(" - ")[0])
    print(f"{fate:8} {time.monotonic() - began:5.1f} s  {name}  [{words}]", flush=True)
    return fate == "killed"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--drawn", type=int, default=150, help="how many small changes to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only those whose rule or file contains this text")
    parser.add_argument("--no-planted", dest="planted", action="store_false", help="leave the list out")
    parser.add_argument("--reach", type=Path, help="a file that keeps which test runs what, for the next time")
    parser.add_argument("--table", action="store_true", help="print the table of tests/README.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
