"""What an explanation says: the parts that are shown to have moved a figure, in words and in the file of a night."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.analysis.attribution import Attribution, Effect
from seedbed.nightly.explanation import Explanation, MovedFigure


def effect(part: str, difference: float, p_holm: float | None = 0.0001, **more: Any) -> Effect:
    """An effect whose interval leaves out 0 unless said otherwise."""
    ends: dict[str, Any] = {"low": difference - 0.01, "high": difference + 0.01, "p": 0.00005, "n": 120, **more}
    return Effect(tuple(part.split(" or ")), difference, p_holm=p_holm, **ends)


def figure(
    *effects: Effect, on_record: str = "judge", interactions: Any = (), unmeasured: Any = (), total: float = -0.1
) -> MovedFigure:
    found = Attribution(effect("all", total), effects, interactions, unmeasured)
    return MovedFigure("sums · plain: Helpful", 3, frozenset(on_record.split()), found)


def explanation(*figures: MovedFigure, **more: Any) -> Explanation:
    rest: dict[str, Any] = {"served": [], "notes": [], "spent_usd": 0.5, "night_usd": None, **more}
    return Explanation(figures, **rest)


def named(own: MovedFigure) -> list[str]:
    return [" or ".join(one.parts) for one in own.named()]


@pytest.mark.parametrize(
    ("on_record", "p", "expected"),
    [
        ("judge", 0.0099, ["judge"]),
        ("judge", 0.01, []),
        ("", 0.00099, ["judge"]),
        ("", 0.001, []),
        ("judge", None, []),
    ],
)
def test_more_is_asked_of_a_part_that_the_record_does_not_show_changed(
    on_record: str, p: float | None, expected: list[str]
) -> None:
    assert named(figure(effect("judge", -0.06, p), on_record=on_record)) == expected


def test_parts_that_cannot_be_told_apart_are_on_record_if_one_of_them_is() -> None:
    assert named(figure(effect("judge or served model", -0.06, 0.005))) == ["judge or served model"]


def test_the_strongest_part_is_named_first_and_what_went_the_other_way_not_at_all() -> None:
    own = figure(effect("judge", -0.03), effect("code", -0.09), effect("data", 0.02))
    assert named(own) == ["code", "judge"]
    again = figure(effect("judge", 0.03), effect("code", 0.09), total=0.12)
    assert named(again) == ["code", "judge"]
    told = explanation(own, figure(effect("model", -0.05), effect("judge", -0.2)))
    assert told.culprits == ["judge", "code", "model"]


def test_a_figure_is_told_with_all_its_parts_and_their_intervals() -> None:
    own = figure(effect("judge or code", -0.06, low=-0.081, high=-0.039), effect("data", 0.0, low=None, high=None))
    assert own.sentence() == (
        "sums · plain: Helpful -0.100 (n = 120): judge or code -0.060 [-0.081, -0.039], data +0.000"
    )
    half = effect("judge", 0.5, low=0.4, high=None)
    assert own.effect_text(half) == "judge +0.500", "half an interval is none"


def pair(p_holm: float | None, **more: Any) -> Effect:
    both = effect("judge", -0.04, p_holm, **more)
    return Effect(("judge", "code"), both.difference, both.low, both.high, both.p, both.n, both.p_holm)


TOGETHER = (
    "sums · plain: Helpful: judge and code together change it by -0.040 more than each by itself; half of that is "
    "counted with either"
)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (pair(0.0099), [TOGETHER]),
        (pair(0.01), []),
        (pair(None), []),
        (pair(0.0001, low=-0.05, high=0.01), []),
        (pair(0.0001, low=None, high=None), []),
    ],
)
def test_two_parts_that_do_more_together_are_told_where_it_is_shown(found: Effect, told: list[str]) -> None:
    own = figure(effect("judge", -0.05), effect("code", -0.05), interactions=[found])
    assert own.interactions() == told


def test_what_two_parts_do_only_together_is_said_to_be_unknown_where_parts_are_told_apart() -> None:
    pairs = [("judge", "code"), ("judge", "data")]
    several = figure(effect("judge", -0.05), effect("code or data", -0.05), unmeasured=pairs)
    assert several.interactions() == [
        "sums · plain: Helpful: what judge and code, judge and data do only together was not crossed"
    ]
    assert figure(effect("judge or code or data", -0.05), unmeasured=pairs).interactions() == []
    assert figure(effect("judge", -0.05), effect("code", -0.05)).interactions() == []


def test_the_headline_has_each_figures_culprits_and_who_answers_otherwise() -> None:
    first, second = figure(effect("judge", -0.06)), figure(effect("code", -0.06, 0.5))
    told = explanation(first, second, first, served=["reader: served model changed from a to b"])
    one = "sums · plain: Helpful: judge -0.060 [-0.070, -0.050]"
    assert told.headline == f"{one}; {one}; reader: served model changed from a to b"
    assert explanation(second).headline == "no part is shown to have moved the figures"
    assert explanation(second).culprits == []


def test_the_file_of_a_night_has_it_all() -> None:
    own = figure(effect("judge", -0.06), on_record="judge data")
    found = explanation(own, served=["s"], notes=["n"], night_usd=2.0).to_json()
    assert (found["culprits"], found["served"], found["notes"]) == (["judge"], ["s"], ["n"])
    assert (found["spent_usd"], found["night_usd"]) == (0.5, 2.0)
    (row,) = found["figures"]
    assert (row["place"], row["on_record"]) == ("sums · plain: Helpful", ["data", "judge"])
    assert row["effects"][0]["difference"] == -0.06


def test_the_section_of_the_page_has_figures_then_pairs_then_what_else_is_known() -> None:
    own = figure(effect("judge", -0.06), effect("code", -0.04), interactions=[pair(0.001)])
    lines = explanation(own, served=["somebody else"], notes=["not crossed"]).markdown().splitlines()
    assert lines[:2] == [f"**{explanation(own).headline}; somebody else**", ""]
    assert lines[2:6] == [f"- {own.sentence()}", f"- {TOGETHER}", "- somebody else", "- not crossed"]
    assert "Intervals hold at 99% for all parts together" in lines[7]
    assert "p after Holm is below 0.01 (0.001 where the record shows no change of it)" in lines[7]
    assert lines[8] == explanation(own).price
