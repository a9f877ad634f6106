"""The metrics that need no model."""

import random
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.suites.crosslingual import metrics
from seedbed.suites.crosslingual.scripts import known_languages

_LANGS = """ar da de en es fi fr he hu it ja ko km ms nl no pl pt ru sv th tr vi zh_cn zh_hk zh_tw
hi el uk fa ur bn ta te id cs ro bg lo my ka hy am"""
_TEXT_LANGS = ("en", "de", "ar", "he", "th", "km", "hi", "ko", "ja", "zh", "zh_cn", "zh-TW", "ru", "el", "tr")
# Short texts that repeat themselves and hold what normalisation treats in its own way.
_PIECES = st.sampled_from(
    [
        *"aAbßΣσİiıé 9٣๓½²™®…，、·'-\0\n\u200b\u0301\u0307\ufe0f\ud800",
        "日本",
        "日 本",
        "ｶﾞ",
        "타",
        "\u1110\u1161",
        "ก็น้ำ",
        "हिन्दी",
        "𠮷",
    ]
)
_TEXTS = st.lists(st.one_of(_PIECES, st.characters()), max_size=8).map("".join)
_ROWS = st.lists(
    st.tuples(_TEXTS, st.one_of(_TEXTS, st.lists(_TEXTS, min_size=1, max_size=3)), st.sampled_from(_TEXT_LANGS)),
    max_size=12,
)


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("  The\tCat\n", "the cat"),
        ("Windows®7™", "windows7"),
        ("x² + y²", "x2 y2"),
        ("İstanbul", "istanbul"),
        ("Straße", "straße"),
        ("Par\u00adis\ufeff", "paris"),
        ("❤\ufe0f a\ufe0fb", "ab"),
        ("٣๓３", "333"),
        ("a_b", "a b"),
        ("…", ""),
    ],
)
def test_normalise_follows_the_rules(text: str, normalised: str) -> None:
    assert metrics.normalise(text) == normalised


@given(_TEXTS)
def test_normalise_keeps_letters_marks_and_numbers_only(text: str) -> None:
    assert {unicodedata.category(char)[0] for char in metrics.normalise(text)} - {"Z"} <= set("LMN")


def test_exact_match_of_two_texts_that_normalise_to_nothing_is_one() -> None:
    assert metrics.exact_match("?!", "", "en") == 1.0


def test_exact_match_of_an_answer_with_nothing_is_zero() -> None:
    assert metrics.exact_match("Paris", "", "en") == 0.0


def test_the_best_alias_counts_for_exact_match_and_f1() -> None:
    assert metrics.exact_match("Paris", ["London", "paris"], "en") == 1.0
    assert metrics.f1_score("Paris, France", ["London", "Paris"], "en") == pytest.approx(2 / 3)
    assert metrics.f1_mkqa("the Louvre", ["x", "Louvre"], "en") == 1.0


def test_an_empty_list_of_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="empty list"):
        metrics.f1_score("a", [], "en")


@pytest.mark.parametrize("lang", ["zh", "ZH", "zh_hk", "zh-CN", "ja", "ja-JP"])
def test_f1_of_chinese_and_japanese_is_per_character_under_any_tag(lang: str) -> None:
    assert metrics.f1_score("东京都", "东京", lang) == pytest.approx(0.8)


def test_f1_of_thai_is_by_spaces_and_mkqas_per_character() -> None:
    assert metrics.f1_score("กรุงเทพ", "กรุงเทพมหานคร", "th") == 0.0
    assert metrics.f1_mkqa("กรุงเทพ", "กรุงเทพมหานคร", "th") == pytest.approx(0.7)


def test_f1_counts_a_repeated_word_as_often_as_both_sides_have_it() -> None:
    assert metrics.f1_score("a a b", "a a a c", "en") == pytest.approx(4 / 7)


def test_f1_of_one_word_needs_the_whole_word() -> None:
    assert metrics.f1_score("seaside town", "sea", "en") == 0.0


def test_mkqa_cuts_the_beginnings_of_french_words_as_published() -> None:
    assert metrics.f1_mkqa("lever", "ver", "fr") == 1.0


def test_rlc_of_the_mixed_answer_counts_letters_only() -> None:
    assert metrics.rlc("答案是 4429 meters", "zh") == pytest.approx(3 / 9)


def test_rlc_of_a_chinese_answer_to_an_english_question_is_zero() -> None:
    assert metrics.rlc("莫斯科", "en") == 0.0


def test_rlc_takes_the_kana_sound_mark_for_japanese_and_not_for_chinese() -> None:
    assert metrics.rlc("ー", "ja") == 1.0
    assert metrics.rlc("ー", "zh") == 0.0


def test_rlc_of_a_sign_common_to_all_scripts_is_neutral() -> None:
    assert metrics.rlc("5 µm", "en") == 1.0


@pytest.mark.parametrize("lang", _LANGS.split())
def test_rlc_knows_the_language(lang: str) -> None:
    assert metrics.rlc("42", lang) == 1.0


def test_rlc_of_an_unknown_language_names_it_and_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'tlh'.*zh") as caught:
        metrics.rlc("nuqneH", "tlh")
    assert all(language in str(caught.value) for language in known_languages())


def test_rlc_ok_begins_at_the_threshold() -> None:
    assert metrics.rlc_ok("甲乙丙ab", "zh") == 1.0
    assert metrics.rlc_ok("甲乙丙ab", "zh", threshold=0.61) == 0.0


def test_cnbe_is_zero_where_nothing_was_translated() -> None:
    assert metrics.cnbe([1.0, 1.0], [0.0, 0.5], [0, 10]) == [0.0, 0.05]


def test_cnbe_ratio_without_any_cost_is_undefined() -> None:
    assert metrics.cnbe_ratio([1.0], [0.0], [0]) is None


def test_cnbe_refuses_lists_that_do_not_pair() -> None:
    with pytest.raises(ValueError, match="2, 1 and 2"):
        metrics.cnbe([1.0, 1.0], [0.0], [1, 1])


def test_cnbe_refuses_a_negative_cost() -> None:
    with pytest.raises(ValueError, match="-3"):
        metrics.cnbe([1.0], [0.0], [-3])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(_ROWS)
def test_a_batch_equals_the_single_functions(rows: list[tuple[str, str | list[str], str]]) -> None:
    preds, golds, langs = ([row[i] for row in rows] for i in range(3))
    columns = metrics.score_rows(preds, golds, langs)
    assert columns["em"].tolist() == [metrics.exact_match(*row) for row in rows]
    assert columns["f1"].tolist() == [metrics.f1_score(*row) for row in rows]
    assert columns["rlc"].tolist() == [metrics.rlc(pred, lang) for pred, _, lang in rows]
    assert columns["rlc_ok"].tolist() == [metrics.rlc_ok(pred, lang) for pred, _, lang in rows]


@pytest.mark.parametrize(
    ("pred", "gold", "lang"), [("U.S.A.", "USA", "en"), ("北 京", "北京", "zh"), ("ab c", "a bc", "en")]
)
def test_a_batch_tells_texts_apart_that_differ_in_spaces_only(pred: str, gold: str, lang: str) -> None:
    assert metrics.score_rows([pred], [gold], [lang])["em"].tolist() == [0.0]


def test_a_batch_joins_a_letter_and_its_mark_when_the_sign_between_them_goes() -> None:
    assert metrics.score_rows(["cafe®\u0301"], ["café"], ["fr"])["em"].tolist() == [1.0]


def test_a_batch_longer_than_one_chunk_keeps_the_order_of_its_rows() -> None:
    rng = random.Random(0)
    rows = [(f"{rng.randrange(9)} {rng.randrange(9)}", str(rng.randrange(9)), "en") for _ in range(10_000)]
    columns = metrics.score_rows(*([row[i] for row in rows] for i in range(3)))
    assert columns["f1"].tolist() == [metrics.f1_score(*row) for row in rows]


def test_a_batch_refuses_columns_that_do_not_pair() -> None:
    with pytest.raises(ValueError, match="1 preds, 2 golds and 1 langs"):
        metrics.score_rows(["a"], ["a", "b"], ["en"])


def test_importing_the_metrics_does_not_import_numpy() -> None:
    code = "import sys, seedbed.suites.crosslingual.metrics; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
