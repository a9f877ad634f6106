"""Two sweeps, or two systems, on the samples they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seedbed.analysis.comparisons import paired
from seedbed.analysis.families import judged
from seedbed.analysis.measured import Measured
from seedbed.analysis.results import MARGIN, Comparison
from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.analysis.system_values import aligned_values, values_of
from seedbed.errors import UserError
from seedbed.phases.context import SweepRun
from seedbed.phases.imports.imported import Imported
from seedbed.phases.score_tables import score_tables
from seedbed.report.compare_page import Compared, compare_page, leading
from seedbed.report.curves import cases_of
from seedbed.report.links import table_name
from seedbed.report.sample_list import MAX_SAMPLES, SampleBook, Source
from seedbed.storage.store import write_bytes, write_text
from seedbed.suite import Metric


@dataclass(frozen=True)
class Side:
    """A sweep's run or what was imported of another tool, and the one system of it that is meant; None for all."""

    run: SweepRun | Imported
    label: str | None = None

    @property
    def name(self) -> str:
        own = self.run.name if isinstance(self.run, Imported) else self.run.plan.config.name
        return own if self.label is None else f"{own}:{self.label}"

    def tables(self) -> Iterator[ScoreTable]:
        if isinstance(self.run, Imported):
            return self.run.score_tables()
        return score_tables(self.run.store, self.run.plan)

    def metrics(self, suite: str) -> tuple[Metric, ...]:
        return self.run.metrics() if isinstance(self.run, Imported) else self.run.plan.metrics(suite)


def compare(a: Side, b: Side, margin: float = MARGIN) -> list[Comparison]:
    """b against a, paired by sample in every metric that is a mean of samples. Holm's family is all tests of a metric.

    Contests are matched by suite, benchmark and model, or without the model where each side has only one of them: that
    is how a new model is held against an old one.
    """
    ours, theirs = _by_key(a), _by_key(b)
    made: list[Measured] = []
    for base, own in matched(ours, theirs):
        for first, second in _labels(a, b, base, own):
            pairs = [(values_of(own, second), aligned_values(base, first, own))]
            made += paired(own, pairs, f"{a.name if a.label else f'{a.name}:{first}'}", margin)
    if not made:
        raise UserError(f"{a.name} and {b.name} share no system on the same benchmark; name them as SWEEP:SYSTEM.")
    return judged(made)


def write_comparison(a: Side, b: Side, made: Sequence[Comparison], folder: Path) -> Path:
    """compare.html with the samples of both sides in one grid; returns its path."""
    book = SampleBook(MAX_SAMPLES)
    views: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    for base, own in matched(_by_key(a), _by_key(b)):
        systems: dict[str, Sequence[tuple[int, Path]]] = {}
        for first, second in _labels(a, b, base, own):
            # The same name on both sides, or two names of one sweep: either way each is told from the other.
            names = (f"{a.name.partition(':')[0]}: {first}", f"{b.name.partition(':')[0]}: {second}")
            if names[0] == names[1]:
                names = (f"A: {first}", f"B: {second}")
            systems |= {names[0]: _folders(a, base, first), names[1]: _folders(b, own, second)}
            views[*own.key, second] = names
        if systems:
            cases = cases_of(_sweep(b).plan, own)
            # Of several pairs each has its own side to be held against.
            baseline = next(iter(systems)) if len(systems) == 2 else None
            book.take(Source(own.key, own.declared, baseline, systems, own.sample_ids, cases))
    metrics = {suite: b.metrics(suite) for suite in dict.fromkeys(c.suite for c in made)}
    for worst in leading(made, metrics)[:1]:
        key = (worst.suite, worst.benchmark, worst.model)
        first, second = views[*key, worst.label]
        book.view = {"table": table_name(key), "metric": worst.metric, "system": second, "against": first}
    page = compare_page((_compared(a), _compared(b)), made, metrics, views, book)
    for name, text in book.packs.files().items():
        write_bytes(folder / name, text.encode())
    write_text(folder / "compare.html", page)
    return folder / "compare.html"


def _compared(side: Side) -> Compared:
    run = _sweep(side)
    return Compared(side.name, run.folder.name, run.plan.simulated)


def _sweep(side: Side) -> SweepRun:
    if isinstance(side.run, Imported):
        raise UserError(f"--open: {side.name} was imported with its scores alone; only sweeps have samples to show.")
    return side.run


def _folders(side: Side, table: ScoreTable, label: str) -> list[tuple[int, Path]]:
    store = _sweep(side).store
    return [(cell.seed, store.cell_dir(cell)) for cell in table.cells[label]]


def _by_key(side: Side) -> dict[TableKey, ScoreTable]:
    found = {table.key: table for table in side.tables()}
    if not found:
        raise UserError(
            f"{side.name}: none of its cells has a result here; either it has not finished one, or a later sweep has "
            "put cells of the same names, but of another config, in their place. Give what differs (a model, a system) "
            "a name of its own in one of the two configs, and run both again."
        )
    labels = {label for table in found.values() for label in table.values}
    if side.label is not None and side.label not in labels:
        raise UserError(f"{side.name}: no such system with results; known: {', '.join(sorted(labels)) or 'none'}.")
    return found


def matched(
    ours: Mapping[TableKey, ScoreTable], theirs: Mapping[TableKey, ScoreTable]
) -> list[tuple[ScoreTable, ScoreTable]]:
    """Pairs of tables that put the same benchmark to systems, with the same model or each with its only one."""
    found: list[tuple[ScoreTable, ScoreTable]] = []
    for key, own in theirs.items():
        if key in ours:
            found.append((ours[key], own))
            continue
        like = [table for other, table in ours.items() if other[:2] == key[:2]]
        if len(like) == 1 and sum(other[:2] == key[:2] for other in theirs) == 1:
            found.append((like[0], own))
    return found


def _labels(a: Side, b: Side, base: ScoreTable, own: ScoreTable) -> Sequence[tuple[str, str]]:
    """Each system with its like, where neither side names one."""
    return [
        (first, second)
        for second in own.values
        for first in base.values
        if first == (a.label or second) and second == (b.label or first)
    ]
