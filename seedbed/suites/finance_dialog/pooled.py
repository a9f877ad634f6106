"""The finished cells of a report by system: all seeds of a dialogue together, since they are one dialogue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seedbed.analysis.bootstrap import cluster_bootstraps
from seedbed.analysis.intervals import Interval
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import CellResult, Shown
from seedbed.suites.finance_dialog.tallies import QUOTIENTS, Quotient, Tally, add, availability

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Pooled:
    """A system on a benchmark with a model, over its seeds."""

    benchmark: str
    model: str
    label: str
    seeds: tuple[int, ...]
    dialogues: Mapping[str, Sequence[Mapping[str, Any]]]
    """Dialogue -> the details of its score rows, one a seed."""
    turns: Sequence[Mapping[str, Any]]
    """Rows of turn_eval with their seed."""
    m1_ignored: bool
    appendix: Sequence[Mapping[str, Any]]
    """M1 with the memory keys, a seed each, where it was ignored."""
    shown: Mapping[str, Shown]
    """What the report's tables say of the system, by metric."""

    @property
    def name(self) -> tuple[str, str, str]:
        return self.benchmark, self.model, self.label

    def sums(self, metric: str, dialogues: Iterable[str] | None = None) -> Tally:
        chosen = self.dialogues if dialogues is None else dialogues
        return add(row["tallies"][metric] for dialog in chosen for row in self.dialogues[dialog])

    def value(self, metric: str, quotient: Quotient, dialogues: Iterable[str] | None = None) -> float | None:
        return quotient.value(self.sums(metric, dialogues))

    def availability(self, metric: str) -> float | None:
        return availability(self.sums(metric))

    def figure(self, metric: str, quotient: Quotient) -> Shown:
        """As the report has it elsewhere; what is only here has a 95% interval by drawing whole dialogues."""
        if quotient.name in self.shown:
            return self.shown[quotient.name]
        interval = self._interval(metric, quotient)
        value = self.value(metric, quotient)
        return Shown(value, interval.low, interval.high) if interval else Shown(value)

    def _interval(self, metric: str, quotient: Quotient) -> Interval | None:
        tallies = {dialog: [row["tallies"][metric] for row in rows] for dialog, rows in self.dialogues.items()}
        sums = {
            dialog: [sum(tally.get(name, 0.0) for tally in own) for name in (quotient.over, quotient.under)]
            for dialog, own in tallies.items()
        }
        return cluster_bootstraps(sums, _ratio, n=RESAMPLES).get("ratio")


def quotient(metric: str, name: str) -> Quotient:
    return next(q for q in QUOTIENTS[metric] if q.name == name)


def pool(cells: Sequence[CellResult]) -> list[Pooled]:
    """One entry a benchmark, model and label, in the order of the cells."""
    groups: dict[tuple[str, str, str], list[CellResult]] = defaultdict(list)
    for cell in cells:
        groups[cell.benchmark, cell.model, cell.label].append(cell)
    return [_pooled(name, own) for name, own in groups.items()]


def _pooled(name: tuple[str, str, str], cells: Sequence[CellResult]) -> Pooled:
    dialogues: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    turns: list[Mapping[str, Any]] = []
    appendix: list[Mapping[str, Any]] = []
    ignored = False
    for cell in sorted(cells, key=lambda c: c.seed):
        for row in read_jsonl(cell.folder / "scores.jsonl"):
            dialogues[row["sample_id"]].append(row["details"])
        turns += ({**row, "seed": cell.seed} for row in read_jsonl(cell.folder / "turn_eval.jsonl"))
        extra = read_json(cell.folder / "metrics_summary.json").get("appendix")
        if extra:
            ignored = True
            appendix.append(extra["m1_with_memory_keys"])
    seeds = tuple(sorted(cell.seed for cell in cells))
    return Pooled(*name, seeds, dialogues, turns, ignored, appendix, cells[0].shown)


def _ratio(sums: Floats) -> dict[str, Floats]:
    import numpy as np

    return {"ratio": sums[:, 0] / np.where(sums[:, 1] == 0, np.nan, sums[:, 1])}
