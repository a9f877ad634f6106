"""`python -m bench`: all benchmarks, one after the other. `python -m bench lm rag` runs those named; one alone takes
its own options too."""

from __future__ import annotations

import importlib
import sys
from itertools import takewhile

BENCHES = ("crosslingual", "rag", "report", "retrieval", "ledger_growth", "orchestration", "lm")


def main(arguments: list[str]) -> None:
    names = list(takewhile(lambda word: not word.startswith("-"), arguments))
    options = arguments[len(names) :]
    if options and len(names) != 1:
        raise SystemExit(f"options are those of one benchmark; name one before {options[0]}: {', '.join(BENCHES)}")
    for name in names or BENCHES:
        if name not in BENCHES:
            raise SystemExit(f"unknown benchmark {name!r}; known: {', '.join(BENCHES)}")
        print(f"\n== {name} ==", flush=True)
        # Each reads its own options from the command line; the names are not among them.
        module = f"bench.{name}" if name == "ledger_growth" else f"bench.{name}_bench"
        sys.argv = [module, *options]
        importlib.import_module(module).main()


main(sys.argv[1:])
