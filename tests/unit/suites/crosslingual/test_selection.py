"""What lbrag chooses to translate."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.suites.crosslingual.documents import Document
from seedbed.suites.crosslingual.retrieval import Candidate
from seedbed.suites.crosslingual.segments import segments, tokens_of
from seedbed.suites.crosslingual.selection import Item, confidence, greedy, pivot_of, select, select_all

GERMAN = "Der Fuji ist 3776 Meter hoch. Der Fuji liegt auf der Insel Honshu. Er ist ein Vulkan."
ARABIC = "يبلغ ارتفاع جبل فوجي 3776 متراً. يقع جبل فوجي في جزيرة هونشو."


def document(lang: str, text: str, relative: float = 1.0, title: str = "") -> Candidate:
    return Candidate(Document(f"{lang}-{relative}", lang, title, text), relative * 7, relative)


MIXED = [
    document("zh", "富士山高3776米。富士山位于本州岛。", 1.0, "富士山"),
    document("de", GERMAN, 0.9, "Fuji"),
    document("en", "Mount Fuji is 3776 metres high.", 0.8, "Mount Fuji"),
    document("ar", ARABIC, 0.5),
]


def test_the_worked_example_selects_the_second_then_the_third_and_never_the_first() -> None:
    items = [Item(0.80, 0.90, 40), Item(0.60, 0.90, 10), Item(0.50, 0.70, 20)]
    assert greedy(items, 35) == [1, 2]


def test_equal_worth_is_taken_in_the_order_of_retrieval() -> None:
    assert greedy([Item(1, 1, 5), Item(1, 1, 5)], 5) == [0]


@pytest.mark.parametrize(
    ("source", "pivot", "expected"),
    [("en", "en", 1.0), ("zh_tw", "zh", 1.0), ("de", "en", 0.9), ("en", "zh", 0.9), ("de", "zh", 0.7)],
)
def test_confidence_is_the_prior_of_the_language_pair(source: str, pivot: str, expected: float) -> None:
    assert confidence(source, pivot) == expected


@pytest.mark.parametrize(("own", "expected"), [(2, "en"), (3, "zh"), (5, "zh"), (0, "en")])
def test_the_question_s_language_is_the_pivot_from_sixty_percent_on(own: int, expected: str) -> None:
    candidates = [document("zh", "甲乙")] * own + [document("de", "Wort")] * (5 - own)
    assert pivot_of(candidates, "zh") == expected


def test_candidates_in_the_pivot_or_the_question_s_language_pass_free() -> None:
    chosen = select(MIXED, "富士山有多高？", "zh", budget=10_000, pivot="en")
    assert chosen.whole == {1, 3}
    assert chosen.tokens == tokens_of(MIXED[1].document.block, "de") + tokens_of(ARABIC, "ar")


def test_without_a_budget_all_that_is_not_in_the_pivot_is_translated() -> None:
    chosen = select(MIXED, "富士山有多高？", "zh", budget="inf", pivot="en")
    assert chosen == select_all(MIXED, "en")
    assert chosen.whole == {0, 1, 3}


def test_a_document_that_does_not_fit_is_translated_in_part() -> None:
    budget = tokens_of("Der Fuji ist 3776 Meter hoch.", "de") + 1
    chosen = select([MIXED[1]], "Wie hoch ist der Fuji, 3776 Meter?", "ar", budget=budget, pivot="en")
    assert not chosen.whole
    cut = segments(MIXED[1].document.block, "de")
    assert [cut[n].text for n in sorted(chosen.parts[0])] == ["Der Fuji ist 3776 Meter hoch."]


def test_the_document_level_takes_no_sentences() -> None:
    chosen = select([MIXED[1]], "?", "ar", budget=12, pivot="en", level="document")
    assert (chosen.whole, chosen.parts, chosen.tokens) == (frozenset(), {}, 0)


def test_the_sentence_level_takes_no_whole_documents() -> None:
    chosen = select([MIXED[1]], "?", "ar", budget=1000, pivot="en", level="sentence")
    assert not chosen.whole
    assert len(chosen.parts[0]) == 3


def test_a_budget_below_one_is_a_share_of_all_candidate_tokens() -> None:
    total = sum(tokens_of(c.document.block, c.document.lang) for c in MIXED)
    by_share = select(MIXED, "?", "zh", budget=0.5, pivot="en")
    assert by_share == select(MIXED, "?", "zh", budget=total * 0.5, pivot="en")
    assert 0 < by_share.tokens <= total * 0.5


def test_sentences_of_a_document_join_to_its_text_and_sum_to_its_tokens() -> None:
    text = "Fuji\nAm 3. März 1890 kam er an.  Dr. Braun ging.\n\nEnde"
    cut = segments(text, "de")
    assert "".join(s.text + s.after for s in cut) == text
    assert [s.text for s in cut] == ["Fuji", "Am 3. März 1890 kam er an.", "Dr. Braun ging.", "Ende"]
    assert tokens_of(text, "de") == sum(s.tokens for s in cut) > 0


TEXTS = {"de": GERMAN, "ar": ARABIC, "zh": "富士山高3776米。富士山位于本州岛。", "en": "It is high. It is old."}
CANDIDATES = st.lists(
    st.builds(
        lambda lang, relative, cut: document(lang, TEXTS[lang][:cut], relative),
        st.sampled_from(sorted(TEXTS)),
        st.floats(0, 1),
        st.integers(0, 90),
    ),
    max_size=6,
)
LEVELS = st.sampled_from(["auto", "document", "sentence"])


@settings(max_examples=150, deadline=None)
@given(CANDIDATES, st.sampled_from(sorted(TEXTS)), st.tuples(st.integers(0, 120), st.integers(0, 120)), LEVELS)
def test_cost_is_within_the_budget_and_never_falls_as_the_budget_grows(
    candidates: list[Candidate], language: str, budgets: tuple[int, int], level: str
) -> None:
    low, high = sorted(budgets)
    question = "Wie hoch ist der Fuji?"
    chosen = [select(candidates, question, language, budget=b, pivot="en", level=level) for b in (low, high)]  # type: ignore[arg-type]
    assert chosen[0].tokens <= low
    assert chosen[1].tokens <= high
    endless = select(candidates, question, language, budget="inf", pivot="en", level=level)  # type: ignore[arg-type]
    assert chosen[0].tokens <= chosen[1].tokens <= endless.tokens


@settings(max_examples=100, deadline=None)
@given(CANDIDATES, st.sampled_from(sorted(TEXTS)), st.integers(0, 200), LEVELS)
def test_a_document_in_the_pivot_is_never_charged(
    candidates: list[Candidate], language: str, budget: int, level: str
) -> None:
    for pivot in ("en", "zh"):
        chosen = select(candidates, "?", language, budget=budget, pivot=pivot, level=level)  # type: ignore[arg-type]
        touched = {*chosen.whole, *chosen.parts, *select_all(candidates, pivot).whole}
        assert all(candidates[i].document.lang != pivot for i in touched)


@given(CANDIDATES, st.sampled_from(sorted(TEXTS)))
def test_a_budget_of_nothing_selects_nothing(candidates: list[Candidate], language: str) -> None:
    chosen = select(candidates, "?", language, budget=0)
    assert (chosen.whole, chosen.parts, chosen.tokens) == (frozenset(), {}, 0)
