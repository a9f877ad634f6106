"""Cells whose answers a scorer of another compares with: a preference against the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from seedbed.storage.hashing import hash_json
from seedbed.storage.yamlfile import FieldPath, YamlFile
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import Experiment, SweepConfig
from seedbed.sweep.registry import nearest
from seedbed.sweep.resolve import Lookup


def rival_of(cells: Sequence[Cell], experiment: Experiment, cell: Cell, against: str | None) -> Cell | None:
    """The cell of the same group with that label, else with the experiment's baseline, else its first; None for the
    cell itself."""
    group = [c for c in cells if c.experiment == cell.experiment and c.group == cell.group]
    label = against or experiment.baseline or group[0].label
    return next((c for c in group if c.label == label and c.id != cell.id), None)


def with_rivals(cells: Sequence[Cell], config: SweepConfig, lookup: Lookup, source: YamlFile) -> Iterator[Cell]:
    """The cells, whose scores also depend on the answers that they are compared with."""
    for cell in cells:
        rivals: list[str] = []
        experiment = config.experiments[cell.experiment]
        for number, scorer in enumerate(lookup.scorers(cell.experiment)):
            if scorer.spec.pairs:
                at: FieldPath = ("experiments", cell.experiment, "scorers", number, "against")
                _check(cells, cell, scorer.options.against, source, at)
                rival = rival_of(cells, experiment, cell, scorer.options.against)
                rivals += [rival.key("generate")] if rival is not None else []
        yield replace(cell, scoring={**cell.scoring, "rivals": hash_json(rivals)}) if rivals else cell


def _check(cells: Sequence[Cell], cell: Cell, against: str | None, source: YamlFile, at: FieldPath) -> None:
    labels = list(dict.fromkeys(c.label for c in cells if c.experiment == cell.experiment))
    if against is not None and against not in labels:
        raise source.error(at, f"there is no system {against!r} in this experiment; {nearest(against, labels)}")
