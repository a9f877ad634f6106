"""Looks at contests on record, against the same looks taken again: every field, unless more is known now."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.phases.verification import look_files
from seedbed.phases.verification.checker import Checker
from seedbed.phases.verification.look_files import check_looks

Record = dict[str, Any]


def contest(*seen: int, p: float = 0.5) -> Record:
    """A contest that was seen at these numbers of pairs."""
    return {"seen": [{"n": n} for n in seen], "p": p}


def look(*contests: Record) -> Record:
    return {"contests": list(contests), "looks": 2}


class Checked:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.before: list[Any] = []
        self._patch = monkeypatch

    def __call__(self, on_record: list[Record] | Exception, made: list[Record]) -> Checker:
        def records(*_: object) -> list[Record]:
            if isinstance(on_record, Exception):
                raise on_record
            return [{**record, "key": "k", "schema_version": 1} for record in on_record]

        def again(store: object, plan: object, family: object, number: int, before: Any) -> Record:
            self.before.append(before if before is None else before["contests"])
            return made[number - 1]

        self._patch.setattr(look_files, "families", lambda plan: [SimpleNamespace(name="toy_f1")])
        self._patch.setattr(look_files, "look_path", lambda s, p, f, number: Path(f"/lab/looks/{f.name}_{number}.json"))
        self._patch.setattr(look_files, "current_looks", records)
        self._patch.setattr(look_files, "look_record", again)
        check = Checker(Path("/lab"))
        run: Any = SimpleNamespace(store=None, plan=None)
        check_looks(check, run)
        return check


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Checked:
    return Checked(monkeypatch)


def test_looks_that_come_out_the_same_have_no_difference(checked: Checked) -> None:
    looks = [look(contest(10)), look(contest(10, 20))]
    check = checked(looks, looks)
    assert (check.differences, check.unchecked) == ([], {})
    assert check.files == {"looks/toy_f1_1.json", "looks/toy_f1_2.json"}
    assert checked.before == [None, looks[0]["contests"]], "each is taken after the one before it on record"


def test_a_look_that_decided_otherwise_is_named_by_its_file(checked: Checked) -> None:
    check = checked([look(contest(10)), look(contest(10, 20, p=0.25))], [look(contest(10)), look(contest(10, 20))])
    assert [str(one) for one in check.differences] == [
        "looks/toy_f1_2.json: contests[0].p is 0.25, the stored rows give 0.5"
    ]


def test_contests_without_a_look_are_said(checked: Checked) -> None:
    assert list(checked([], []).unchecked) == ["looks at toy_f1: none is on record for these scores"]


def test_a_record_that_cannot_be_read_is_named(checked: Checked) -> None:
    (said,) = checked(KeyError("key"), []).differences
    assert str(said) == "looks/toy_f1_1.json: cannot be checked: KeyError: 'key'"


@pytest.mark.parametrize(
    ("then", "now", "later"),
    [
        (look(contest(10)), look(contest(11)), True),
        (look(contest(10, 20)), look(contest(10, 21)), True),
        (look(contest(10, 20)), look(contest(11, 20)), False),
        (look(contest(10)), look(contest(9)), False),
        (look(contest(10), contest(10)), look(contest(10), contest(11)), True),
        (look(contest(10), contest()), look(contest(10, p=0.25), contest()), False),
        (look(contest(10), contest()), look(contest(11), contest(10)), False),
        (look(contest()), look(contest(p=0.25)), False),
    ],
)
def test_a_look_that_would_see_more_pairs_now_is_not_compared(
    checked: Checked, then: Record, now: Record, later: bool
) -> None:
    check = checked([then], [now])
    said = "looks/toy_f1_1.json: samples that had no score at the look have one now"
    assert list(check.unchecked) == ([said] if later else [])
    assert bool(check.differences) is not later
