"""Why a phase must run again: what it was made from then, and what it would be made from now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seedbed.phases.asked import covers, to_ask
from seedbed.phases.context import SweepRun
from seedbed.storage.store import read_json_if_there, write_json
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.identity import changed_parts

_FILE = "ran.json"
_NEW = "new"
_DONE = {"optimise": "optimised", "generate": "generated", "score": "scored"}
_CHANGED = {
    "benchmark": "data, options or loader of benchmark {0.benchmark!r} have changed",
    "system": "code or options of system {0.system!r} have changed",
    "optimizer": "optimizer {0.optimizer!r} has changed",
    "model": "model {0.model!r} has other settings",
    "roles": "a role beside the task is played by another model",
    "suite": "suite {0.suite!r} has changed",
    "feedback": "the feedback of suite {0.suite!r} has changed",
    "seed": "the seed is another",
    "scoring": "the scoring of suite {0.suite!r} has changed",
    "judges": "scores are given by another model",
    "repeats": "other figures are taken of its repeats",
    "rivals": "the answers that {0.label!r} is compared with have changed",
    "order": "its cases are asked in another order (decide)",
    "scorers": "scorers were added, removed or changed",
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What was done for a cell in a run, and why; nothing where it was up to date."""

    phases: tuple[Phase, ...] = ()
    cause: str | None = None

    def and_then(self, later: Ran) -> Ran:
        """What was done before and after, the first cause with it."""
        return Ran(tuple(dict.fromkeys((*self.phases, *later.phases))), self.cause or later.cause)


def stale(run: SweepRun, cell: Cell, phase: Phase, look: int | None = None) -> str | None:
    """Why a phase is not done, in words; None if its files are there and current. Of a cell that grows, up to a look
    where one is given."""
    found = run.store.done(cell, phase, cell.key(phase), run.generation)
    if found is not None:
        return None if look is None or covers(found, to_ask(run, cell, phase, look)) else "its contest is still open"
    folder = run.store.cell_dir(cell)
    held = read_json_if_there(folder / "cell.json")
    if held is None:
        return _NEW
    if held["cell_id"] != cell.id:
        return _explain(cell, changed_parts(held["answers"], cell.answers))
    made = read_json_if_there(folder / "done" / f"{phase}.json")
    if made is None:
        return "it had not been finished"
    if made["generation"] < run.generation:
        return "the sweep was started afresh"
    if made["key"] != cell.key(phase):
        return _explain(cell, changed_parts(made["parts"], cell.parts(phase)))
    return "its files are gone or were changed"


def _explain(cell: Cell, parts: Sequence[str]) -> str:
    return " and ".join(_CHANGED.get(part, part).format(cell) for part in parts) or "an earlier phase has changed"


def summarise(done: Iterable[Ran]) -> list[str]:
    """A line a cause: how many cells ran again, which phases, and why; first how many did not."""
    counts = Counter((ran.phases, ran.cause) for ran in done)
    total = sum(counts.values())
    lines = [f"{counts.pop(((), None), 0)} of {total} cells were up to date"]
    for (phases, cause), number in counts.most_common():
        cells = f"{number} cell{'s' * (number > 1)}"
        if not phases:
            continue
        words = " and ".join(_DONE[phase] for phase in phases)
        lines.append(f"{cells} {words}: new" if cause == _NEW else f"{cells} {words} again: {cause}")
    return lines


def write_ran(run: SweepRun, lines: Sequence[str]) -> None:
    """Keep what ran and why beside the summary."""
    write_json(run.folder / _FILE, {"lines": list(lines)})


def read_ran(run: SweepRun) -> list[str]:
    data = read_json_if_there(run.folder / _FILE)
    return [] if data is None else data["lines"]
