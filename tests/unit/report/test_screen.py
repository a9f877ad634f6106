"""Rows on screens of any width."""

from __future__ import annotations

import pytest

from seedbed.report.screen import aligned

ROWS = [["phase", "calls", "dollars", "basis"], ["generate", "12", "$0.0001 to $0.0192", "assumed"]]


def test_columns_stand_below_each_other_in_a_line_a_row_where_there_is_room() -> None:
    assert list(aligned(ROWS, 200, right=(1,))) == [
        "phase     calls  dollars             basis",
        "generate     12  $0.0001 to $0.0192  assumed",
    ]


@pytest.mark.parametrize("width", [24, 30, 40])
def test_a_narrow_screen_gets_several_lines_a_row_with_every_figure_whole(width: int) -> None:
    lines = list(aligned(ROWS, width))
    assert max(map(len, lines)) <= width
    assert sum("$0.0001 to $0.0192" in line for line in lines) == 1
    assert [line.startswith(" ") for line in lines] == ([False] + [True] * (len(lines) // 2 - 1)) * 2


def test_a_column_that_is_wider_than_the_screen_is_left_whole() -> None:
    assert "$0.0001 to $0.0192" in "\n".join(aligned(ROWS, 5))
