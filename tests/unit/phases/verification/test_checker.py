"""What verify takes for the same, and how it names what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.verification.checker import Checker, Difference, same, same_text
from seedbed.storage.hashing import hash_file

ROOT = Path("/results")
FILE = ROOT / "cell" / "metrics.json"


def compared(published: Any, computed: Any) -> list[str]:
    check = Checker(ROOT)
    check.compare(FILE, published, computed)
    assert {difference.file for difference in check.differences} <= {"cell/metrics.json"}
    return [difference.what for difference in check.differences]


@pytest.mark.parametrize("value", [1.0, 0.123456789, -0.001, 250.0])
def test_a_number_may_differ_by_rounding_and_by_no_more(value: float) -> None:
    assert same(value * (1 + 1e-12), value)
    for share in (1e-2, 1e-4, 1e-6, 1e-8):
        assert not same(value * (1 + share), value)


def test_next_to_nothing_is_nothing() -> None:
    assert same(1e-14, 0.0)
    assert not same(1e-9, 0.0)


@pytest.mark.parametrize(("published", "computed"), [(True, 1), (0, False), (None, 0), ("1", 1), (False, True)])
def test_what_is_no_number_is_equal_or_not(published: Any, computed: Any) -> None:
    assert not same(published, computed)
    assert same(published, published)


def test_every_leaf_is_compared_and_counted() -> None:
    check = Checker(ROOT)
    check.compare(FILE, {"a": {"b": 1, "c": [2, 3]}, "d": None}, {"a": {"b": 1, "c": [2, 4]}, "d": None})
    assert check.differences == [Difference("cell/metrics.json", "a.c[1] is 3, the stored rows give 4")]
    assert (check.figures, check.files) == (4, {"cell/metrics.json"})


def test_a_file_without_a_difference_counts_as_looked_at(tmp_path: Path) -> None:
    written = tmp_path / "hashed.json"
    written.write_text("{}", encoding="utf-8")
    check = Checker(tmp_path)
    check.compare(tmp_path / "compared.json", 1, 1)
    check.rows(tmp_path / "rows.jsonl", [], [])
    check.text(tmp_path / "text.md", "same", "same")
    check.hashed(written, hash_file(written))
    assert check.differences == []
    assert check.files == {"compared.json", "rows.jsonl", "text.md", "hashed.json"}


def test_what_one_side_lacks_is_named() -> None:
    assert compared({"a": 1}, {"a": 1, "b": 2}) == ["b is missing"]
    assert compared({"a": 1, "b": 2}, {"a": 1}) == ["b is not expected"]
    assert compared([1, 2], [1]) == ["it has 2 entries, the stored rows give 1"]
    assert compared({"a": [1]}, {"a": {"b": 1}}) == ['a is [1], the stored rows give {"b": 1}']


def test_long_values_are_cut_and_short_ones_are_not() -> None:
    short, long = "a" * 158, "a" * 159
    assert compared(short, "") == [f" is {short!r}, the stored rows give ''"]
    assert compared(long, "") == [f" is {repr(long)[:160]}…, the stored rows give ''"]


def test_a_difference_is_told_once() -> None:
    check = Checker(ROOT)
    for _ in range(2):
        check.compare(FILE, 1, 2, "n")
    assert [str(one) for one in check.differences] == ["cell/metrics.json: n is 1, the stored rows give 2"]


def test_rows_are_named_by_their_number_and_sample() -> None:
    check = Checker(ROOT)
    check.rows(FILE, [{"sample_id": "q1", "n": 1}, {"n": 1}], [{"sample_id": "q1", "n": 2}, {"n": 2}, {"n": 3}])
    assert [difference.what for difference in check.differences] == [
        "has 2 rows, the stored rows give 3",
        "row 1 (q1).n is 1, the stored rows give 2",
        "row 2.n is 1, the stored rows give 2",
    ]
    again = Checker(ROOT)
    again.rows(FILE, [{"sample": "s"}], [{"sample": "t"}])
    assert [one.what for one in again.differences] == ["row 1 (t).sample is 's', the stored rows give 't'"]


def test_the_first_line_that_differs_is_shown_around_the_difference() -> None:
    check = Checker(ROOT)
    check.text(FILE, "a\nb\nc", "a\nB\nC")
    assert [difference.what for difference in check.differences] == ["line 2 is 'b', the stored rows give 'B'"]
    assert check.figures == 3
    far = Checker(ROOT)
    far.text(FILE, f"{'x' * 300}y{'z' * 300}", f"{'x' * 300}Y{'z' * 300}")
    shown = f"{'x' * 80}y{'z' * 79}"
    assert f"line 1 is {shown!r}" in far.differences[0].what


def test_a_line_that_goes_on_is_shown_where_the_other_ends() -> None:
    for own, other in (("x" * 300, f"{'x' * 300}y"), (f"{'x' * 300}y", "x" * 300)):
        check = Checker(ROOT)
        check.text(FILE, own, other)
        assert [one.what for one in check.differences] == [
            f"line 1 is {own[220:]!r}, the stored rows give {other[220:]!r}"
        ]


def test_lines_that_one_side_lacks_are_counted() -> None:
    check = Checker(ROOT)
    check.text(FILE, "a", "a\nb")
    assert [difference.what for difference in check.differences] == ["has 1 lines, the stored rows give 2"]
    check.text(FILE, "a\nb", "a\nb")
    assert len(check.differences) == 1


def test_long_numbers_in_a_text_may_be_rounded_otherwise_and_short_ones_may_not() -> None:
    assert same_text("mean 0.12345678901 of 3", "mean 0.12345678902 of 3")
    assert not same_text("mean 0.12345678901 of 3", "mean 0.12345679901 of 3")
    assert not same_text("mean 0.12345678901 of 3", "mean 0.12345678901 of 4")
    assert not same_text("mean 0.5", "mean: 0.5")
    assert same_text("1000000000", "1000000001")
    assert not same_text("100000000", "100000001")
    assert same_text("1.0000e-13", "2.0000e-13")
    assert not same_text("1.000e-13", "2.000e-13"), "nine characters are no long number"


def test_a_file_is_known_by_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{}")
    check = Checker(tmp_path)
    check.hashed(path, hash_file(path))
    assert (check.differences, check.files) == ([], {"rows.jsonl"})
    check.hashed(path, "0" * 64)
    check.hashed(tmp_path / "none", "0" * 64)
    assert [str(difference) for difference in check.differences] == [
        "rows.jsonl: has changed since it was written (its hash differs)",
        "none: is missing",
    ]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "none", "/results/cell/other.json"), "cell/other.json: is missing"),
        (FileNotFoundError(), "cell/metrics.json: is missing"),
        (KeyError("n"), "cell/metrics.json: cannot be checked: KeyError: 'n'"),
    ],
)
def test_what_cannot_be_read_is_a_difference_and_not_the_end(error: Exception, said: str) -> None:
    check = Checker(ROOT)
    with check.reading(FILE):
        raise error
    assert [str(difference) for difference in check.differences] == [said]
    assert check.files


def test_what_was_left_out_is_told_once_and_in_order() -> None:
    check = Checker(ROOT)
    for sentence in ("b", "a", "b"):
        check.left_out(sentence)
    assert list(check.unchecked) == ["b", "a"]
