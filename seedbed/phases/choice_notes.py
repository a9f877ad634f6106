"""Searches whose examples were too few to tell candidates apart, by the spread that their scores had."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from seedbed.analysis.choice import Scores, observed_spread, too_few
from seedbed.storage.store import Store, read_jsonl
from seedbed.sweep.cell import Cell
from seedbed.sweep.optimizers import Split
from seedbed.sweep.plan import Plan


def choice_notes(store: Store, plan: Plan) -> list[str]:
    """A sentence for every optimised system that was chosen by too few examples, all its seeds together."""
    searches: dict[tuple[str, ...], list[Cell]] = {}
    for cell in plan.cells:
        if cell.optimised and store.done(cell, "optimise", cell.key("optimise"), plan.generation) is not None:
            searches.setdefault((cell.benchmark, cell.model, cell.label), []).append(cell)
    found = {key: _note(store, plan, cells) for key, cells in searches.items()}
    return [f"{' · '.join(key)}: {text}" for key, text in found.items() if text is not None]


def _note(store: Store, plan: Plan, cells: list[Cell]) -> str | None:
    resolved = plan.resolve(cells[0])
    spec = resolved.optimizer_spec
    if spec is None or not spec.chooses_by:
        return None
    logs = [_scores(store.cell_dir(cell), spec.chooses_by) for cell in cells]
    spreads = [spread for log in logs if log and (spread := observed_spread(log[0], log[1:])) is not None]
    n = max((len(own) for log in logs for own in log), default=0)
    spread = math.sqrt(sum(own**2 for own in spreads) / len(spreads)) if spreads else None
    return too_few(resolved.optimizer_name, " and ".join(spec.chooses_by), n, spread) if n else None


def _scores(folder: Path, splits: tuple[Split, ...]) -> list[Scores]:
    """Of every candidate, the program as it was written first; the mean where an example was scored several times."""
    given: dict[int, dict[str, list[float]]] = {0: {}}
    for candidate, sample, score in _rows(folder, splits):
        given.setdefault(candidate, {}).setdefault(sample, []).append(score)
    return [{name: math.fsum(own) / len(own) for name, own in one.items()} for one in given.values()]


def _rows(folder: Path, splits: tuple[Split, ...]) -> Iterator[tuple[int, str, float]]:
    for split in splits:
        for row in read_jsonl(folder / "metric_logs" / f"{split}.jsonl"):
            yield row["candidate"], row["sample_id"], row["score"]
