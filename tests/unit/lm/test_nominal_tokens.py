"""Nominal counts: a word by its letters, a mark and a character of a dense script by itself."""

from __future__ import annotations

import pytest

from seedbed.lm.nominal_tokens import count_tokens, truncate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n", 0),
        ("a", 1),
        ("four", 1),
        ("fives", 2),
        ("eightish", 2),
        ("nineletter", 3),
        ("one two", 2),
        ("a, b!", 4),
        ("漢字", 2),
        ("한국", 2),
        ("漢字 and ภ, too", 6),
    ],
)
def test_a_word_is_one_for_each_four_letters_begun_and_all_else_is_one(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (0, ""),
        (1, "one "),
        (2, "one "),
        (3, "one seven "),
        (4, "one seven 漢"),
        (5, "one seven 漢字"),
        (6, "one seven 漢字! "),
        (7, "one seven 漢字! end"),
        (8, "one seven 漢字! end"),
    ],
)
def test_a_text_is_cut_before_the_first_piece_that_is_too_much(limit: int, left: str) -> None:
    assert truncate("one seven 漢字! end", limit) == left


def test_the_longest_words_of_a_length_count_as_many_and_one_letter_more_counts_more() -> None:
    assert [truncate("a" * letters, 2) for letters in (7, 8, 9)] == ["a" * 7, "a" * 8, ""]
