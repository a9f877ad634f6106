"""Which language a text is in, and which language a name means."""

from __future__ import annotations

import pytest

from seedbed.lm.language import detect, mentioned, tag_of


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("", "en"),
        ("xylophon", "en"),
        ("东京是日本的首都。", "zh"),
        ("東京は日本の首都です。", "ja"),
        ("漢字漢字漢字の", "ja"),
        ("القاهرة عاصمة مصر", "ar"),
        ("서울은 한국의 수도이다", "ko"),
        ("กรุงเทพเป็นเมืองหลวง", "th"),
        ("Москва столица России", "ru"),
        ("Η Αθήνα είναι πρωτεύουσα", "el"),
        ("दिल्ली भारत की राजधानी है", "hi"),
        ("ירושלים", "he"),
        ("What is the capital of the country?", "en"),
        ("Was ist die Hauptstadt und wie viele wohnen dort?", "de"),
        ("Cuál es la capital y cuántos viven en ella", "es"),
    ],
)
def test_a_text_is_in_the_language_of_most_of_it(text: str, tag: str) -> None:
    assert detect(text) == tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("漢字 abcd", "zh"),
        ("漢字 abcde", "en"),
        ("漢字 abcdef", "en"),
        ("漢かabcdef", "en"),
        ("漢字かabcdef", "ja"),
        ("漢字仮かabcdefgh", "ja"),
        ("漢字仮かabcdefghi", "en"),
    ],
)
def test_a_character_of_a_dense_script_weighs_as_much_as_two_letters(text: str, tag: str) -> None:
    assert detect(text) == tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("größer", "de"),
        ("the grösser", "en"),
        ("the größerä", "de"),
        ("the what ä ä", "en"),
        ("the what ä ä ä", "de"),
        ("the what which ä ä ä ä ä ä", "en"),
        ("los las una ä ä ä ä", "es"),
        ("the which ¿ñ", "en"),
        ("the which ¿ñ¡", "es"),
    ],
)
def test_three_marks_of_a_language_count_and_weigh_less_than_three_of_its_words(text: str, tag: str) -> None:
    """Three quarters of a word each, and no more than three of them."""
    assert detect(text) == tag


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("ZH_hant", "zh"),
        (' "Chinese". ', "zh"),
        ("中文", "zh"),
        ("Simplified Chinese", "zh"),
        ("en", "en"),
        ("xx", None),
        ("xx-CN", None),
        ("answer in German", "de"),
        ("nothing of it", None),
        ("germane", None),
        ("", None),
    ],
)
def test_a_name_or_a_tag_stands_for_a_language(name: str, tag: str | None) -> None:
    assert tag_of(name) == tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [("From Spanish to French", "es"), ("用中文回答", "zh"), ("a spanishlike text", None), ("none", None)],
)
def test_the_first_language_that_a_text_names_is_the_one_mentioned(text: str, tag: str | None) -> None:
    assert mentioned(text) == tag
