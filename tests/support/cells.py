"""Running the cells of a config phase by phase, without Prefect; `python -m tests.support.cells CONFIG OUT [FIELD=VALUE
...]` does so in a process of its own, which a test can then kill. A budget that is reached ends it with exit code 1."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.errors import BudgetReached
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import aggregate, score_group
from seedbed.phases.context import open_run
from seedbed.phases.growing import Growing, growing
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan


@dataclass(frozen=True)
class Prepared:
    plan: Plan
    run: str
    """Folder of the sweep's run."""
    root: Path

    def cell(self, optimizer: str, seed: int = 0) -> Cell:
        return next(c for c in self.plan.cells if c.optimizer == optimizer and c.seed == seed)

    def folder(self, cell: Cell) -> Path:
        return self.root / cell.folder

    def phase(self, cell: Cell, phase: Phase) -> dict[str, Any]:
        return run_phase(self.run, cell.id, phase)

    def all_phases(self, cell: Cell) -> dict[str, Any]:
        for phase in cell.phases:
            result = self.phase(cell, phase)
        return result

    def finish(self) -> Path:
        """All phases of all cells, what groups add, and what is published; the folder of the run."""
        try:
            groups = growing(open_run(self.run))
            own = {cell for group in groups for cell in group.cells}
            for cell in self.plan.cells:
                if cell.id not in own:
                    self.all_phases(cell)
            for group in groups:
                self.look_after_look(group)
        finally:
            close_runtimes()
        for group, cells in self.plan.groups().items():
            score_group(self.run, group, [cell.id for cell in cells])
        aggregate(self.run, {}, "completed")
        return Path(self.run)

    def look_after_look(self, group: Growing, last: int | None = None) -> None:
        """As the flow does it, up to a look."""
        run = open_run(self.run)
        for look in range(1, (last or group.looks) + 1):
            wanted = group.open_cells(run, look)
            for cell in (run.plan.cell(one) for one in group.cells if one in wanted):
                for phase in cell.phases:
                    run_phase(self.run, cell.id, phase, None if phase == "optimise" else look)
            if wanted:
                group.look(run, look)

    def rows(self, cell: Cell, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder(cell) / name).read_text(encoding="utf-8").splitlines()]

    def runtime(self) -> Any:
        return open_run(self.run).runtime()


def prepared(config: Path, root: Path, overrides: list[str] | None = None, *, replay: bool = False) -> Prepared:
    loaded, source = load_config(config, overrides)
    plan = make_plan(loaded, source)
    return Prepared(plan, str(prepare(plan, root.resolve(), replay=replay)), root.resolve())


def main() -> None:
    ready = prepared(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    try:
        for cell in ready.plan.cells:
            ready.all_phases(cell)
    except BudgetReached as error:
        sys.exit(str(error))
    finally:
        close_runtimes()


if __name__ == "__main__":
    main()
