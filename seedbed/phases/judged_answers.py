"""The answers behind a judged metric: what a rater is shown of each, what the judge gave it, and its hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from seedbed.analysis.label_draw import own_number
from seedbed.analysis.score_table import ScoreTable
from seedbed.phases.labels import answer_hash
from seedbed.storage.store import Store, read_jsonl
from seedbed.suite import Judged, Metric
from seedbed.suites.kit.outcomes import UNREADABLE
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One answer of a system to a sample under a seed."""

    seed: int
    score: float
    answer: str
    """The hash of what is shown."""
    certain: bool
    """Whether no judge gave the score: the answer cannot be read, or two are the same."""
    doubt: float | None
    """How far the judge's votes lie apart, as a share of the range; None for a single one."""
    shown: Mapping[str, Any]
    other: Mapping[str, Any] | None = None
    """What it is held against, of a metric that pairs."""


def judged_metrics(plan: Plan, table: ScoreTable) -> list[Metric]:
    """The metrics of a table that a model judges, as suites and scorers declare them."""
    cell = plan.cell(next(iter(table.cells.values()))[0].id)
    resolved = plan.resolve(cell)
    return [
        metric
        for metric in table.declared
        if metric.judged is not None
        and metric.kind != "pooled"
        and metric.judged.applies(resolved.benchmark_name, resolved.benchmark_options)
    ]


def judged_answers(
    store: Store, plan: Plan, table: ScoreTable, metric: Metric, label: str
) -> dict[str, list[JudgedAnswer]]:
    """By sample id, the answers of a system that have a score, in the order of seeds."""
    found: dict[str, list[JudgedAnswer]] = {}
    for scored in sorted(table.cells[label], key=lambda cell: cell.seed):
        cell = plan.cell(scored.id)
        for sample, answer in _of_cell(store, plan, cell, metric):
            found.setdefault(sample, []).append(answer)
    return found


def drawn_seed(salt: str, sample: str, answers: Sequence[JudgedAnswer]) -> JudgedAnswer:
    """Which of a sample's answers is shown: each seed has an equal chance, and systems have the same one where both
    answered."""
    return min(answers, key=lambda one: own_number(salt, f"{sample}\0seed {one.seed}"))


def _of_cell(store: Store, plan: Plan, cell: Cell, metric: Metric) -> Iterator[tuple[str, JudgedAnswer]]:
    judged = metric.judged
    assert judged is not None
    outputs = _outputs(store, cell)
    rival = plan.rival(cell, judged.against) if judged.pairs else None
    others = {} if rival is None else _outputs(store, rival)
    for row in read_jsonl(store.cell_dir(cell) / "scores.jsonl"):
        score, sample = row["scores"].get(metric.name), row["sample_id"]
        if score is None:
            continue
        shown = shown_output(outputs.get(sample), judged)
        other = shown_output(others[sample], judged) if others.get(sample) is not None else None
        certain = UNREADABLE in row["details"] or outputs.get(sample) is None or (judged.pairs and shown == other)
        yield (
            sample,
            JudgedAnswer(
                seed=cell.seed,
                score=float(score),
                answer=answer_hash([shown, other] if judged.pairs else shown),
                certain=bool(certain),
                doubt=_doubt(row["details"], metric),
                shown=shown,
                other=other,
            ),
        )


def _outputs(store: Store, cell: Cell) -> dict[str, Any]:
    return {row["sample_id"]: row.get("output") for row in read_jsonl(store.cell_dir(cell) / "predictions.jsonl")}


def shown_output(output: Mapping[str, Any] | None, judged: Judged) -> dict[str, Any]:
    """What a rater sees of an output."""
    if output is None:
        return {}
    chosen: dict[str, Any] = {}
    for name in judged.outputs:
        first, _, rest = name.partition(".")
        value: Any = output.get(first)
        if value is None:
            continue
        if not rest or not isinstance(value, list):
            chosen[first] = value
            continue
        members = [cast("Mapping[str, Any]", m) if isinstance(m, Mapping) else {} for m in cast("list[Any]", value)]
        earlier: list[dict[str, Any]] = chosen.get(first) or [{} for _ in members]
        chosen[first] = [{**own, rest: member.get(rest)} for own, member in zip(earlier, members, strict=True)]
    return chosen or dict(output)


def _doubt(details: Mapping[str, Any], metric: Metric) -> float | None:
    judged = metric.judged
    if judged is None or not judged.votes or metric.range is None:
        return None
    own: Any = details.get(metric.name)
    inside = cast("Mapping[str, Any]", own) if isinstance(own, Mapping) else {}
    votes: Any = details.get(judged.votes) or inside.get(judged.votes)
    if not isinstance(votes, list) or len(cast("list[Any]", votes)) < 2:
        return None
    marks = [metric.share(float(vote[0])) for vote in cast("list[Any]", votes)]
    centre = sum(marks) / len(marks)
    return (sum((mark - centre) ** 2 for mark in marks) / len(marks)) ** 0.5


def mean_doubts(answers: Mapping[str, Mapping[str, Sequence[JudgedAnswer]]], sample_ids: Sequence[str]) -> Floats:
    """How unsure the judge is of each sample over all systems and seeds; nan where it voted once."""
    import numpy as np

    found: list[float] = []
    for sample in sample_ids:
        own = [one.doubt for by_sample in answers.values() for one in by_sample.get(sample, ())]
        known = [doubt for doubt in own if doubt is not None]
        found.append(sum(known) / len(known) if known else float("nan"))
    return np.array(found)
