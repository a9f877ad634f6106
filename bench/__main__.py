"""`python -m bench`: all benchmarks, one after the other. `python -m bench lm rag` runs those named."""

from __future__ import annotations

import importlib
import sys

BENCHES = ("crosslingual", "rag", "report", "retrieval", "ledger_growth", "orchestration", "lm")


def main(names: list[str]) -> None:
    for name in names or BENCHES:
        if name not in BENCHES:
            raise SystemExit(f"unknown benchmark {name!r}; known: {', '.join(BENCHES)}")
        print(f"\n== {name} ==", flush=True)
        # Each reads its own options from the command line; ours are not among them.
        module = f"bench.{name}" if name == "ledger_growth" else f"bench.{name}_bench"
        sys.argv = [module]
        importlib.import_module(module).main()


main(sys.argv[1:])
