"""Print all tables, and how many figures reach their goal."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import bench.stats_simulation
from bench.stats_simulation.comparisons import show_seeds
from bench.stats_simulation.coverage import show_clusters, show_intervals, show_one_sided
from bench.stats_simulation.others import show_figures, show_missing
from bench.stats_simulation.rules import show_detectable, show_gate
from bench.stats_simulation.tables import GOALS

PARTS: dict[str, Callable[[int], None]] = {
    "intervals": show_intervals,
    "clusters": show_clusters,
    "one_sided": show_one_sided,
    "seeds": show_seeds,
    "gate": show_gate,
    "detectable": show_detectable,
    "missing": show_missing,
    "figures": show_figures,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=bench.stats_simulation.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    arguments = parser.parse_args()
    for part in arguments.only.split(","):
        PARTS[part](arguments.sweeps)
    error = 1.96 * math.sqrt(0.05 * 0.95 / arguments.sweeps)
    print(f"\n{arguments.sweeps:,} sweeps a figure; simulation error of a share near 95% or 5%: ±{error:.1%}\n")
    for goal in GOALS.values():
        if goal.met or goal.careful or goal.short:
            print(f"- {goal.account}")


if __name__ == "__main__":
    main()
