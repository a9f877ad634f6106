"""What is said of answers that were cut off or could not be read, from counts that can be added by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.results import Row
from seedbed.analysis.score_table import ScoreTable
from seedbed.phases.answer_notes import FirstExamples, answer_notes
from seedbed.sweep.cell import Cell
from seedbed.sweep.model_config import ModelConfig

MODELS = {
    "m": ModelConfig(model="openai/m", max_tokens=50),
    "open": ModelConfig(model="openai/open"),
    "json": ModelConfig(model="openai/json", adapter="json"),
    "on": ModelConfig.model_validate({"model": "openai/on", "structured": "schema"}),
}


def row(model: str, *, n: int = 10, unreadable: int = 0, truncated: int = 0) -> Row:
    return Row(
        "s", "b", "x", "Baseline", model, "x", False, {}, {}, 1, 1, n, 0, 0, unreadable, truncated, 0, 0, None, None
    )  # fmt: skip


def cost(model: str, calls: int, cut: int, outcome: str = "paid", where: str = "task in generate") -> dict[str, Any]:
    role, _, phase = where.partition(" in ")
    return {"model": model, "role": role, "phase": phase, "outcome": outcome, "calls": calls, "cut": cut}


def notes(*rows: Row, costs: Sequence[dict[str, Any]] = (), first: FirstExamples | None = None) -> list[str]:
    return answer_notes(rows, costs, MODELS, first or FirstExamples())


def test_where_all_was_read_to_its_end_nothing_is_said() -> None:
    assert notes(row("m"), row("open"), costs=[cost("m", 20, 0)]) == []


@pytest.mark.parametrize(
    ("model", "truncated", "remedy"),
    [
        ("m", 0, "`structured: schema` or `adapter: json` of models.m can help (docs/models.md)"),
        ("m", 1, "where they were cut off, raise models.m.max_tokens"),
        ("json", 0, "the report has each with what was sent and what came back"),
        ("on", 0, "the report has each with what was sent and what came back"),
        ("json", 1, "where they were cut off, raise models.json.max_tokens"),
    ],
)
def test_unreadable_answers_are_counted_over_a_models_systems_with_what_can_help(
    model: str, truncated: int, remedy: str
) -> None:
    told = notes(row(model, n=30, unreadable=2), row("open", n=5), row(model, truncated=truncated, unreadable=1))
    assert told == [f"3 of 40 answers with model '{model}' could not be read and have the worst score; {remedy}."]


def test_the_first_that_could_not_be_read_is_shown() -> None:
    told = notes(row("json", unreadable=1), first=FirstExamples({}, {"json": "sample 'q0' of x"}))
    assert told[0].endswith("what came back. The first: sample 'q0' of x.")


def test_cut_answers_are_counted_with_where_they_were_asked_for_and_the_limit() -> None:
    costs = [
        cost("m", 20, 2), cost("m", 10, 1, "reused"), cost("m", 8, 3, where="judge in score"),
        cost("m", 4, 4, "failed"), cost("m", 7, 0, where="reflection in optimise"), cost("open", 5, 5),
        cost("json", 6, 0),
    ]  # fmt: skip
    assert notes(costs=costs, first=FirstExamples({"open": "sample 'q1' of x"})) == [
        "6 of 45 answers of model 'm' were cut at max_tokens 50 (task in generate, judge in score): raise "
        "models.m.max_tokens.",
        "5 of 5 answers of model 'open' were cut at the provider's own limit (task in generate); the first: sample "
        "'q1' of x: set models.open.max_tokens.",
    ]


def test_a_model_that_the_config_no_longer_has_was_cut_at_a_limit_of_its_own() -> None:
    (told,) = notes(costs=[cost("gone", 2, 1)])
    assert told.startswith("1 of 2 answers of model 'gone' were cut at the provider's own limit")


def watched(*failures: tuple[str, str, str], cut: str | None = None, model: str = "m") -> ScoreTable:
    cell = Cell("c", 0, "s", "b", "x", "Baseline", model, 0, {}, {})
    return ScoreTable(
        ("s", "b", model), "x", [], frozenset(), [], np.zeros(0, dtype=np.int64), {}, {}, {},
        [(cell, *failure) for failure in failures], {}, None if cut is None else (cell, cut),
    )  # fmt: skip


def test_the_first_example_of_either_kind_stays_whatever_tables_follow() -> None:
    first = FirstExamples()
    first.watch(watched(("q1", "error", "refused"), ("q2", "unreadable", "no field."), ("q3", "unreadable", "none")))
    assert (first.cut, first.unreadable) == ({}, {"m": "sample 'q2' of x · b · m · seed 0: no field"})
    first.watch(watched(("q9", "unreadable", "later"), cut="q8"))
    first.watch(watched(cut="q7"))
    first.watch(watched(("q5", "error", "refused"), model="open"))
    assert first.unreadable == {"m": "sample 'q2' of x · b · m · seed 0: no field"}
    assert first.cut == {"m": "sample 'q8' of x · b · m · seed 0"}


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("two\n  lines. ", "two lines"),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 299 + "…"),
    ],
)
def test_an_example_is_one_line_of_300_letters_at_most(reason: str, shown: str) -> None:
    first = FirstExamples()
    first.watch(watched(("q", "unreadable", reason)))
    assert first.unreadable["m"].partition(": ")[2] == shown
