"""Which parts of a cell are others than in the baseline, as the record shows: settings, code, data, who answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from seedbed.analysis.answerers import FIELDS, Answerers, served
from seedbed.sweep.cell import Cell
from seedbed.sweep.identity import changed_parts

Kind = Literal["old answers", "old judge", "old cases", "old model"]
"""A crossing by what of the baseline it takes: its answers, scored as tonight; or tonight's run with its judge, its
cases, its model."""

JUDGE, SCORER, DATA, MODEL, CODE, SERVED = "judge", "scorer code", "data", "model", "code", "served model"
_ANSWERS = {"benchmark": DATA, "model": MODEL, "roles": MODEL}
"""What a part of a cell's identity is called; all others are code."""


@dataclass(frozen=True)
class Changed:
    """The parts of a cell that may have moved its figures, and on which of them the record says so."""

    scoring: str | None
    """What stands between an answer and its score: the judge, the scorer's code; None where neither can differ."""
    data: bool
    answers: tuple[str, ...]
    """What stands behind other answers: model, code, served model."""
    on_record: frozenset[str]

    @property
    def parts(self) -> tuple[str, ...]:
        first = () if self.scoring is None else (self.scoring,)
        return (*first, *self.answers, *((DATA,) if self.data else ()))

    def crossings(self) -> Iterator[tuple[Kind, frozenset[str]]]:
        """Those that tell the parts apart, the cheapest first, each with the parts that are new in it. The code of then
        is gone: what it did is what is left when all else is exchanged."""
        whole = frozenset(self.parts)
        if self.scoring is not None:
            yield "old answers", frozenset({self.scoring})
            yield "old judge", whole - {self.scoring}
        if self.data:
            yield "old cases", whole - {DATA}
        if MODEL in self.answers and len(self.answers) > 1:
            yield "old model", whole - {MODEL}


def changed(old: Cell, new: Cell, before: Answerers, after: Answerers, roles: Mapping[str, str]) -> Changed:
    """`roles` are the models, by name, that play the roles of the new cell; those that score are all but `task`."""
    answers = {_ANSWERS.get(part, CODE) for part in changed_parts(old.answers, new.answers) if part != "seed"}
    scoring = {JUDGE if part == "judges" else SCORER for part in changed_parts(old.scoring, new.scoring)}
    # Who asks another model gets another's answers: only behind an unchanged name is that news.
    if MODEL not in answers and served_changes(before, after, [roles["task"]]):
        answers.add(SERVED)
    judges = [name for role, name in roles.items() if role != "task"]
    if served_changes(before, after, judges):
        scoring.add(JUDGE)
    named = " or ".join(part for part in (JUDGE, SCORER) if part in scoring)
    # A judge that is a model may be another without a word; what no model has a part in is as it was.
    shown = named or (JUDGE if judges else None)
    behind = tuple(part for part in (MODEL, CODE, SERVED) if part in answers)
    return Changed(shown, DATA in answers, behind or (SERVED,), frozenset({*answers, *([named] if named else [])}))


def served_changes(before: Answerers, after: Answerers, models: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Of these models: name, what of who answered is another, what it was and what it is."""
    found: list[tuple[str, str, str, str]] = []
    for model in dict.fromkeys(models):
        for field in FIELDS:
            old, new = served(before, model, field), served(after, model, field)
            if old and new and set(old) != set(new):
                found.append((model, field, ", ".join(old), ", ".join(new)))
    return found


def served_sentences(
    before: Answerers, after: Answerers, models: Sequence[str], first: Mapping[tuple[str, str], float]
) -> list[str]:
    """ "reader: served model changed from X to Y at 02:14": a sentence for each change, with the time of the first
    answer that is known to be another's."""
    told: list[str] = []
    for model, field, old, new in served_changes(before, after, models):
        what = "served model" if field == "answered_by" else field.replace("_", " ")
        newcomers = [value for value in served(after, model, field) if value not in served(before, model, field)]
        times = [first[model, value] for value in newcomers if (model, value) in first]
        at = f" at {datetime.fromtimestamp(min(times), UTC):%H:%M} UTC" if times else ""
        told.append(f"{model}: {what} changed from {old} to {new}{at}")
    return told
