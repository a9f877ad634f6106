"""pass@k and pass^k of cases that were asked more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seedbed.analysis.passes import pass_all, pass_at
from seedbed.suite import Case, ScoreRow
from seedbed.suites.kit.repeats import asked_case
from seedbed.sweep.repeats import PassFigure


def with_passes(figures: Sequence[PassFigure], cases: Sequence[Case], rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """The rows, of which the first that was scored of each case has the case's figures: a case counts once, however
    often it was asked. An answer that is missing is no wrong one; a case with fewer than k others has no figure."""
    if not figures:
        return list(rows)
    places: dict[str, list[int]] = {}
    for place, case in enumerate(cases):
        places.setdefault(asked_case(case), []).append(place)
    made = list(rows)
    for own in places.values():
        scored = [place for place in own if rows[place].status == "ok"]
        if scored:
            first = made[scored[0]]
            values = {f.metric.name: _value(f, [rows[place] for place in scored]) for f in figures}
            made[scored[0]] = replace(first, scores={**first.scores, **values})
    return made


def _value(figure: PassFigure, rows: Sequence[ScoreRow]) -> float | None:
    marks = [mark for row in rows if (mark := row.scores.get(figure.of)) is not None]
    if len(marks) < figure.k:
        return None
    count = pass_all if figure.all else pass_at
    return count(len(marks), sum(mark == 1.0 for mark in marks), figure.k)
