"""Which two runs of a sample are compared, and what of them is shown."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.why import Difference, OneRunOnly, first_difference
from tests.unit.lm.ledger.conftest import attempt, keep, put


def asked(engine: Engine, *requests: str) -> None:
    """Requests for one sample in this order, each as CELL PHASE EXECUTION KEY."""
    rows: list[dict[str, object]] = []
    for number, request in enumerate(requests, 1):
        cell, phase, execution, key = request.split()
        own = {"cell": cell, "phase": phase, "execution": execution, "key": key}
        rows.append(attempt(number, sample="x", started_at=float(number), **own))
    put(engine, *rows)


@pytest.mark.parametrize(
    ("requests", "place"),
    [
        (["c generate e1 a", "c generate e2 b"], 1),
        (["c generate e1 a", "c generate e1 b", "c generate e2 a", "c generate e2 c"], 2),
        (["c generate e1 a", "c generate e2 a", "c generate e2 a", "c generate e2 b"], 2),
        (["c generate e1 x", "c generate e2 a", "c generate e3 a", "c generate e3 b", "c generate e3 x"], 2),
        (["c generate e1 a", "c generate e1 b", "c generate e2 b", "c generate e2 a"], None),
        (["c generate e1 a", "c generate e1 b", "c generate e2 a"], None),
    ],
    ids=["the first", "the second", "a repeat has no place", "only the run before", "another order", "fewer"],
)
def test_the_first_request_that_the_run_before_did_not_make_is_told_by_its_place(
    engine: Engine, requests: list[str], place: int | None
) -> None:
    asked(engine, *requests)
    found = first_difference(engine, "x")
    assert (found.place if found else None) == place


def test_the_runs_compared_are_those_of_the_cell_and_phase_that_asked_last(engine: Engine) -> None:
    asked(engine, "d scores e1 a", "d scores e2 b", "c generate e1 a", "c generate e2 c", "d scores e3 c")
    for key in "abc":
        keep(engine, key, request={"ask": key})
    assert first_difference(engine, "x") == Difference("d", "scores", 1, {"ask": "b"}, {"ask": "c"})


def test_a_request_in_whose_place_there_was_none_stands_beside_nothing(engine: Engine) -> None:
    asked(engine, "c generate e1 a", "c generate e2 a", "c generate e2 b")
    keep(engine, "a", request={"ask": "a"})
    assert first_difference(engine, "x") == Difference("c", "generate", 2, None, None)
    keep(engine, "b", request={"ask": "b"})
    assert first_difference(engine, "x") == Difference("c", "generate", 2, None, {"ask": "b"})


@pytest.mark.parametrize(
    ("requests", "runs"),
    [([], 0), (["c generate e1 a"], 1), (["c generate e1 a", "c scores e1 b"], 1)],
    ids=["none", "one", "one of each phase"],
)
def test_without_two_runs_there_is_nothing_to_compare_with(engine: Engine, requests: list[str], runs: int) -> None:
    if requests:
        asked(engine, *requests)
    put(engine, attempt(8, sample="y"), attempt(9, sample="y", execution="e2"))
    with pytest.raises(OneRunOnly) as told:
        first_difference(engine, "x")
    assert told.value.args == (runs,)


def test_runs_can_be_narrowed_to_those_of_a_sweep(engine: Engine) -> None:
    asked(engine, "c generate e1 a", "c generate e2 b")
    put(engine, attempt(9, sample="x", sweep="another", execution="e3", key="c", started_at=9.0))
    keep(engine, "b", request="b")
    keep(engine, "c", request="c")
    own, of_all = first_difference(engine, "x", "s"), first_difference(engine, "x")
    assert own is not None
    assert of_all is not None
    assert (own.now, of_all.now) == ("b", "c")


def test_a_difference_is_shown_with_two_lines_around_it_whatever_the_order_of_its_fields() -> None:
    before = {"e": 1, "d": 2, "c": "ä", "b": 3, "a": 4}
    shown = Difference("c", "generate", 1, before, {"a": 4, "b": 3, "c": "ö", "d": 2, "e": 1}).lines()
    assert list(shown) == [
        "--- the run before",
        "+++ the last run",
        "@@ -2,5 +2,5 @@",
        '  "a": 4,',
        '  "b": 3,',
        '- "c": "ä",',
        '+ "c": "ö",',
        '  "d": 2,',
        '  "e": 1',
    ]


def test_a_request_beside_nothing_is_all_new() -> None:
    shown = list(Difference("c", "generate", 1, None, {"a": 4}).lines())
    assert shown[2:] == ["@@ -0,0 +1,3 @@", "+{", '+ "a": 4', "+}"]
