"""Attacks a sweep over all suites and compares with a clean run:

    python -m tests.faults.campaign --kills 50 --faults 0.2 --seed 1

Same seed, same moments, as far as a machine allows. Exit code 1 where something did not hold."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.faults.campaign.campaign import Campaign


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.campaign", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="how often a process is killed (default: 50)")
    parser.add_argument("--faults", type=float, default=0.2, help="share of requests that go wrong (default: 0.2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--requests", type=int, default=30_000, help="in bulk, beside the sweeps (default: 30000)")
    parser.add_argument("--bare", action="store_true", help="the phases alone, without Prefect")
    parser.add_argument("--folder", type=Path, help="where to work (default: a new folder, removed if all held)")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="campaign-"))
    campaign = Campaign(folder, kills=given.kills, faults=given.faults, seed=given.seed, whole=not given.bare)
    problems = campaign.run(requests=given.requests)
    print(f"{campaign.told()}\n{len(problems)} things did not hold")
    if problems:
        print(f"files in {folder}")
    elif given.folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
