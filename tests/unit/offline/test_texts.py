from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.lm import language
from seedbed.lm.nominal_tokens import count_tokens, truncate
from seedbed.offline.expertise import gather, lexicon_of
from seedbed.offline.lexicon import Lexicon
from seedbed.offline.text import passages, sentences


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("four", 1), ("fives", 2), ("a b", 2), ("维尔姆大桥", 5), ("Hi, 世界!", 5), ("ภาษา", 4), ("1991 m", 2)],
)
def test_tokens_are_counted_by_script(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_truncating_keeps_within_the_limit() -> None:
    text = "The 维尔姆 bridge, 1991 metres."
    assert [count_tokens(truncate(text, n)) <= n for n in range(12)] == [True] * 12
    assert truncate(text, 100) == text


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en", "The bridge is 1991 metres long."),
        ("de", "Die Brücke ist 1991 Meter lang."),
        ("es", "El puente mide 1991 metros de longitud."),
        ("zh", "大桥全长1991米，由 Ines Hallam 设计。"),
        ("ja", "橋の長さは1991メートルです。"),
        ("ar", "يبلغ طول الجسر 1991 متراً."),
        ("ko", "다리의 길이는 1991미터입니다."),
        ("th", "สะพานยาว 1991 เมตร"),
        ("ru", "Длина моста 1991 метр."),
        ("en", "1991"),
    ],
)
def test_languages_are_told_apart(tag: str, text: str) -> None:
    assert language.detect(text) == tag


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("Chinese", "zh"), ("中文", "zh"), ("zh", "zh"), ("zh_CN", "zh"), ("Simplified Chinese", "zh"),
        ("日本語", "ja"), ("Deutsch", "de"), ("Español", "es"), ("العربية", "ar"),
        ("English (en)", "en"), ("Klingon", None), ("", None),
    ],
)  # fmt: skip
def test_names_of_languages_become_tags(name: str, tag: str | None) -> None:
    assert language.tag_of(name) == tag


def test_ordinals_and_initials_do_not_end_a_sentence() -> None:
    text = "Am 3. März kam J. Hallam. Dann ging sie."
    assert sentences(text) == ("Am 3. März kam J. Hallam.", "Dann ging sie.")


def test_unspaced_scripts_are_cut_at_their_own_stops() -> None:
    assert sentences("大桥很长。它很高！") == ("大桥很长。", "它很高！")


@pytest.mark.parametrize(
    "value",
    [
        '["One.", "Two."]',
        "[1] «One.»\n[2] «Two.»",
        "[1] (en) One.\n\n[2] (en) Two.",
        '[{"text": "One."}, {"text": "Two."}]',
    ],
)
def test_passages_are_found_in_every_way_of_listing_them(value: str) -> None:
    assert passages(value) == ["One.", "Two."]


def test_a_name_is_translated_whatever_its_inflection(lexicon: Lexicon) -> None:
    assert lexicon.translate("Tarnowsees", "en") == "Lake Tarnow"


def test_a_sentence_is_translated_from_memory(lexicon: Lexicon) -> None:
    assert lexicon.translate("lake tarnow is 88 metres deep", "zh") == "塔尔诺湖深度为88米。"


def test_the_unknown_is_not_translated(lexicon: Lexicon) -> None:
    assert lexicon.translate("something else", "zh") is None


def test_mentions_of_one_thing_agree_over_languages(lexicon: Lexicon) -> None:
    texts = ["the Velm Bridge", "在维尔姆大桥上", "ヴェルム橋は", "der Velm-Brücke", "el puente de Velm", "لجسر فيلم"]
    first = [next(m.concept for m in lexicon.mentions(text) if m.kind == "name") for text in texts]
    assert len(set(first)) == 1


def test_a_folder_without_files_is_an_empty_lexicon(tmp_path: Path) -> None:
    assert Lexicon.load(tmp_path).knowledge == ()


def test_the_shipped_lexicon_is_read_once() -> None:
    assert lexicon_of(gather().data) is lexicon_of(gather().data)
