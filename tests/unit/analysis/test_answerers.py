"""Who answered: what changed within a sweep, and since another."""

from __future__ import annotations

from typing import Any

from seedbed.analysis.answerers import changes_between, changes_within, served


def row(model: str, answers: int, **said: Any) -> dict[str, Any]:
    unsaid = {"answered_by": None, "fingerprint": None, "provider": None, "service_tier": None}
    return {"model": model, **unsaid, **said, "answers": answers}


def test_answers_are_counted_by_what_they_said_in_the_order_of_the_rows() -> None:
    rows = [row("a", 3, provider="x"), row("a", 2), row("b", 9, provider="x"), row("a", 4, provider="y"),
            row("a", 5, provider="x")]  # fmt: skip
    assert list(served(rows, "a", "provider").items()) == [("x", 8), ("y", 4)]
    assert served(rows, "b", "fingerprint") == {}


def test_what_changed_during_a_sweep_is_told_once_for_each_thing_of_each_model() -> None:
    rows = [row("a", 3, provider="x", fingerprint="f1"), row("a", 2, provider="x", fingerprint="f2"),
            row("b", 1, service_tier="flex"), row("b", 6, service_tier="default"), row("b", 1)]  # fmt: skip
    assert changes_within(rows) == [
        "a: its fingerprint changed during the sweep: f1 (3 answers), then f2 (2 answers).",
        "b: its service tier changed during the sweep: flex (1 answers), then default (6 answers).",
    ]


def test_what_was_the_same_or_never_said_is_no_change_within() -> None:
    assert changes_within([row("a", 3, provider="x"), row("a", 1), row("a", 3, provider="x")]) == []


def test_what_is_not_what_it_was_is_told() -> None:
    before = [row("a", 3, answered_by="m-1"), row("a", 3, answered_by="m-2"), row("b", 1, provider="x")]
    after = [row("a", 3, answered_by="m-2"), row("b", 7, provider="y")]
    assert changes_between(before, after) == [
        "a: the model that answered was m-1, m-2 in the baseline and is m-2 now",
        "b: its provider was x in the baseline and is y now",
    ]


def test_what_is_known_of_one_side_alone_or_only_in_another_order_is_no_change_between() -> None:
    before = [row("a", 1, provider="x", fingerprint="f1"), row("a", 1, provider="y"), row("gone", 1, provider="z")]
    after = [row("a", 1, provider="y", service_tier="flex"), row("a", 8, provider="x"), row("new", 1, provider="w")]
    assert changes_between(before, after) == []
