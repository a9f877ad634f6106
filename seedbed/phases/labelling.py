"""The work of a rater: which answer comes next, what is shown of it, and where the mark goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, cast

from seedbed.analysis.label_draw import draw_numbers, known_sizes, order, own_number, sizes
from seedbed.analysis.score_table import ScoreTable
from seedbed.errors import UserError
from seedbed.phases.context import SweepRun
from seedbed.phases.judged_answers import JudgedAnswer, drawn_seed, judged_answers, judged_metrics, mean_doubts
from seedbed.phases.labels import DrawKey, append_label, begin_draw, labels_path, read_labels
from seedbed.phases.score_tables import score_tables
from seedbed.report.curves import cases_of
from seedbed.suite import Case, Judged, Metric
from seedbed.sweep.registry import nearest

_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Item:
    """An answer to be looked at; several systems may have given it."""

    key: DrawKey
    judged: Judged
    case: Case
    answer: JudgedAnswer
    systems: list[str]
    swapped: bool
    """Of a pair, whether the other answer is shown first."""

    def shown(self) -> dict[str, Any]:
        """For the page: nothing that tells the system, the seed or the judge's mark."""
        judged, inputs = self.judged, dict(self.case.inputs)
        chosen = {name: inputs[name] for name in judged.inputs if name in inputs} or inputs
        answers = [_fields(self.answer.shown)]
        if self.answer.other is not None:
            answers.insert(0 if self.swapped else 1, _fields(self.answer.other))
        reference = _text(self.case.gold) if judged.reference and self.case.gold is not None else None
        return {
            "question": judged.question,
            "asked": _fields(chosen),
            "reference": reference,
            "answers": answers,
            "marks": [word for _, word in judged.marks],
        }

    def value(self, mark: int | None) -> float | None:
        """What a mark of the page is worth."""
        if mark is None:
            return None
        value = self.judged.marks[mark][0]
        return 1.0 - value if self.swapped else value

    @property
    def facts(self) -> dict[str, str]:
        return {str(k): str(v) for k, v in self.case.meta.items() if isinstance(v, str | bool | int)}


class Labelling:
    """One rater's way through the answers of a metric, in the order of the draw. Several threads may use it."""

    def __init__(
        self, run: SweepRun, metric: str, rater: str, systems: Sequence[str] = (), benchmark: str | None = None
    ) -> None:
        self.rater, self.metric = rater, metric
        self.path: Path = labels_path(run.store, run.plan.config.name)
        self._lock = threading.Lock()
        self._run = run
        queues = [list(queue) for queue in self._queues(metric, systems, benchmark)]
        # By turns, a sample of each benchmark and model at a time.
        samples = chain.from_iterable(zip_longest(*queues))
        self.items: list[Item] = [item for sample in samples if sample for item in sample]
        labels = read_labels(self.path)
        self._marks = {key: own.get(rater, {}) for key, own in labels.marks.items()}

    def given(self, at: int) -> tuple[bool, float | None]:
        """Whether this rater has looked at an item, and the mark."""
        item = self.items[at]
        own, name = self._marks.get(item.key, {}), (item.case.sample_id, item.answer.answer)
        return name in own, own.get(name)

    def page(self, at: int | None) -> dict[str, Any]:
        """An item for the page, the first without a mark where no place is given; its place is past the end when all
        have one."""
        with self._lock:
            done = sum(self.given(place)[0] for place in range(len(self.items)))
            if at is None:
                at = next((p for p in range(len(self.items)) if not self.given(p)[0]), len(self.items))
            at = max(0, min(at, len(self.items)))
            told = {"at": at, "done": done, "total": len(self.items), "metric": self.metric, "rater": self.rater}
            if at == len(self.items):
                return told
            item, (looked, value) = self.items[at], self.given(at)
            values = [item.value(mark) for mark in range(len(item.judged.marks))]
            mark = values.index(value) if value in values else None
            return {**told, **item.shown(), "given": {"mark": mark} if looked else None}

    def label(self, at: int, mark: int | None) -> None:
        """Keep a mark; None where the rater cannot tell."""
        item = self.items[at]
        with self._lock:
            value, name = item.value(mark), (item.case.sample_id, item.answer.answer)
            append_label(
                self.path, item.key, rater=self.rater, sample_id=item.case.sample_id, systems=item.systems,
                seed=item.answer.seed, answer=item.answer.answer, value=value, facts=item.facts,
            )  # fmt: skip
            self._marks.setdefault(item.key, {})[name] = value

    def _queues(self, metric: str, systems: Sequence[str], benchmark: str | None) -> Iterator[Iterator[list[Item]]]:
        known: dict[str, None] = {}
        found = False
        for table in score_tables(self._run.store, self._run.plan):
            judged = {m.name: m for m in judged_metrics(self._run.plan, table)}
            known |= dict.fromkeys(judged)
            if metric in judged and benchmark in (None, table.key[1]):
                found = True
                yield self._queue(table, judged[metric], systems)
        if not found:
            told = nearest(metric, known) if known else "this sweep has no metric that a model judges."
            where = f" in the benchmark {benchmark!r}" if benchmark else ""
            raise UserError(f"--metric {metric!r}: no model judges it{where}; {told}")

    def _queue(self, table: ScoreTable, metric: Metric, systems: Sequence[str]) -> Iterator[list[Item]]:
        """The answers of each sample, in the order of the draw."""
        for label in systems:
            if label not in table.values:
                raise UserError(f"--system {label!r}: is none of this sweep; {nearest(label, table.values)}")
        run, key = self._run, (*table.key, metric.name)
        cases = cases_of(run.plan, table)
        if not cases:
            raise UserError(f"{table.key[1]}: its cases cannot be read here, so there is nothing to show a rater.")
        every = {label: judged_answers(run.store, run.plan, table, metric, label) for label in table.values}
        if not any(every.values()):
            raise UserError(f"--metric {metric.name!r}: the judge has scored no answer of {table.key[1]}; name a model "
                            "for the role judge and run the sweep again.")  # fmt: skip
        draw = read_labels(self.path).draws.get(key)
        if draw is None:
            size = sizes(mean_doubts(every, table.sample_ids))
            draw = begin_draw(self.path, key, dict(zip(table.sample_ids, size.tolist(), strict=True)))
        numbers = draw_numbers(draw.salt, table.sample_ids)
        chosen = {label: own for label, own in every.items() if not systems or label in systems}
        for place in order(numbers, known_sizes(table.sample_ids, draw.sizes)).tolist():
            sample: str = table.sample_ids[int(place)]
            if sample in cases:
                yield list(_items(key, metric, cases[sample], draw.salt, chosen))


def _items(
    key: DrawKey, metric: Metric, case: Case, salt: str, answers: Mapping[str, Mapping[str, Sequence[JudgedAnswer]]]
) -> Iterator[Item]:
    """The distinct answers to a sample, in random order."""
    assert metric.judged is not None
    found: dict[str, Item] = {}
    for label, own in answers.items():
        each = own.get(case.sample_id)
        if not each:
            continue
        drawn = drawn_seed(salt, case.sample_id, each)
        if drawn.certain:
            continue
        if drawn.answer in found:
            found[drawn.answer].systems.append(label)
            continue
        name = f"{case.sample_id}\0{drawn.answer}"
        swapped = metric.judged.pairs and own_number(salt, f"{name}\0first") < 0.5
        found[drawn.answer] = Item(key, metric.judged, case, drawn, [label], swapped)
    yield from sorted(found.values(), key=lambda item: own_number(salt, f"{case.sample_id}\0{item.answer.answer}"))


def _fields(values: Mapping[str, Any]) -> list[list[str]]:
    return [[name.replace("_", " "), _text(value)] for name, value in values.items() if value not in (None, "")]


def _text(value: Any, depth: int = 0) -> str:
    """A value as a person reads it: names and texts, a line each, no brackets."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        lines = [
            f"{str(name).replace('_', ' ')}: {_text(v, depth + 1)}" for name, v in fields.items() if v not in (None, "")
        ]
    elif isinstance(value, list | tuple):
        many = cast("Sequence[Any]", value)
        lines = [f"{number}. {_text(v, depth + 1)}" for number, v in enumerate(many, start=1)]
    else:
        return str(value) if len(str(value)) <= _LONGEST else f"{str(value)[:_LONGEST]} […]"
    return "\n".join(line and "  " * depth + line for line in (["", *lines] if depth else lines))
