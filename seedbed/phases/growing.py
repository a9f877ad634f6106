"""The cells of a sweep that grow look by look, in the groups whose contests are decided together."""

from __future__ import annotations

from dataclasses import dataclass

from seedbed.phases.context import SweepRun
from seedbed.phases.looks import families, look_at, open_cells


@dataclass(frozen=True)
class Growing:
    """Cells of one suite whose contests are decided by one metric."""

    suite: str
    metric: str
    cells: tuple[str, ...]
    """Ids, in the order of the plan."""
    looks: int

    def open_cells(self, run: SweepRun, look: int) -> set[str]:
        """Ids of the cells that a look needs."""
        return open_cells(run.store, run.plan, (self.suite, self.metric), look)

    def look(self, run: SweepRun, look: int) -> list[str]:
        """Take a look; returns what it has decided, a line a contest that ended with it."""
        lines: list[str] = []
        for family in families(run.plan):
            if family.group != (self.suite, self.metric):
                continue
            record = look_at(run.store, run.plan, family, look)
            for entry in record["contests"]:
                if entry["decision"] != "go on" and len(entry["seen"]) == look:
                    names = (
                        f"{entry['label']} against {entry['baseline']} on {entry['benchmark']} with {entry['model']}"
                    )
                    lines.append(f"{names}: decided ({entry['decision']}) after {entry['asked']} of {entry['planned']}")
        return lines


def growing(run: SweepRun) -> list[Growing]:
    """All such groups of a run."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    looks: dict[tuple[str, str], int] = {}
    for family in families(run.plan):
        for pair in family.pairs:
            found.setdefault(family.group, {}).update(dict.fromkeys(cell.id for cell in pair.cells))
            chosen = run.plan.experiment(pair.own[0]).decide
            assert chosen is not None, "only contests that are to be decided are looked at"
            looks[family.group] = chosen.looks
    order = {cell.id: place for place, cell in enumerate(run.plan.cells)}
    return [
        Growing(*group, tuple(sorted(cells, key=order.__getitem__)), looks[group]) for group, cells in found.items()
    ]
