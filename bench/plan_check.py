"""What `seedbed plan` says of the shipped configs with nothing on record, beside what they then take.

    python -m bench.plan_check                     # all that need no key and no weights, some minutes
    python -m bench.plan_check configs/demo.yaml   # those named

Ends with 1 where calls, tokens or dollars of a sweep lie outside the range that was told before."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import cost_rows
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.forecast import Range, forecast
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.storage.store import Store
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan

CONFIGS = Path(__file__).resolve().parents[1] / "configs"


@dataclass(frozen=True)
class Checked:
    config: str
    what: str
    told: Range
    took: float

    @property
    def holds(self) -> bool:
        # Sums of many small dollars, added up in another order, differ in their last digits.
        return self.told.low * (1 - 1e-9) <= self.took <= self.told.high * (1 + 1e-9)

    def __str__(self) -> str:
        told = f"{self.told.low:.6g} to {self.told.high:.6g}, likely {self.told.likely:.6g}"
        return f"{self.config:<20} {self.what:<7} {told:<48} took {self.took:<10.6g} {'' if self.holds else 'OUTSIDE'}"


def check(config: Path, root: Path) -> Iterator[Checked]:
    """Plan a sweep in an empty folder, run it there, and compare."""
    plan = make_plan(*load_config(config))
    told = forecast(plan, root).total
    calls, tokens, usd = _took(plan, root)
    yield Checked(config.stem, "calls", told.new_calls, calls)
    yield Checked(config.stem, "tokens", told.tokens, tokens)
    if told.usd is not None:
        yield Checked(config.stem, "dollars", told.usd, usd)


def _took(plan: Plan, root: Path) -> tuple[int, int, float]:
    folder = str(prepare(plan, root))
    try:
        for cell in plan.cells:
            for phase in cell.phases:
                run_phase(folder, cell.id, phase)
    finally:
        close_runtimes()
    engine = open_database(plan.config.ledger or Store(root).ledger_url)
    try:
        rows = [row for row in cost_rows(engine, plan.config.name) if row["outcome"] == "paid"]
    finally:
        engine.dispose()
    tokens = sum(row["tokens_in"] + row["tokens_out"] for row in rows)
    return sum(row["calls"] for row in rows), tokens, sum(row["spent_usd"] for row in rows)


def main(names: Sequence[str]) -> int:
    configs = [Path(name) for name in names] or [p for p in sorted(CONFIGS.glob("*.yaml")) if p.stem != "local"]
    outside = 0
    for config in configs:
        with tempfile.TemporaryDirectory() as folder:
            for checked in check(config, Path(folder) / "out"):
                outside += not checked.holds
                print(checked, flush=True)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
