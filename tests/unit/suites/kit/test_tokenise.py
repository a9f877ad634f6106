"""Texts as tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seedbed.suites.kit.tokenise import tokenise, words_by_icu

_ODD = st.text("ab19_.',:;\"- \tZ", max_size=12)


@given(st.one_of(_ODD, st.text(st.characters(max_codepoint=127), max_size=40)))
def test_ascii_texts_are_parted_as_icu_parts_them(text: str) -> None:
    assert tokenise(text) == words_by_icu(text.lower())


def test_chinese_is_indexed_by_words_and_by_pairs_of_characters() -> None:
    assert {"富士", "士山"} <= set(tokenise("富士山"))
