from __future__ import annotations

from collections.abc import Callable

import dspy
import pytest

LONG = {"en": "How long is the Velm Bridge?", "zh": "维尔姆大桥有多长？", "de": "Wie lang ist die Velm-Brücke?"}
Document = Callable[[str], list[str]]


class Answer(dspy.Signature):
    """Answer the question from the context."""

    question: str = dspy.InputField()
    context: list[str] = dspy.InputField()
    answer: str = dspy.OutputField()


class AnswerIn(Answer):
    """Answer the question from the context with the shortest span."""

    answer_language: str = dspy.InputField()


def ask(question: str, context: list[str], instructions: str = "Answer with the shortest span.") -> str:
    return dspy.Predict(Answer.with_instructions(instructions))(question=question, context=context).answer


def test_answers_with_the_whole_sentence_when_told_nothing(connect, document: Document) -> None:
    connect()
    answer = ask(LONG["en"], document("en"), "Answer the question.")
    assert answer == "The Velm Bridge is 1991 metres long."


@pytest.mark.parametrize(
    "wish",
    ["Answer with the shortest span.", "Give only the answer.", "As few words as possible, please.", "只输出答案。"],
)
def test_answers_with_the_span_when_told_to_be_short(connect, document: Document, wish: str) -> None:
    connect()
    assert ask(LONG["en"], document("en"), wish) == "1991 metres"


def test_a_wish_for_full_sentences_beats_one_for_brevity(connect, document: Document) -> None:
    connect()
    wish = "Be concise, but answer in a complete sentence."
    assert ask(LONG["en"], document("en"), wish) == "The Velm Bridge is 1991 metres long."


def test_the_description_of_the_answer_is_followed(connect, document: Document) -> None:
    connect()
    signature = Answer.with_updated_fields("answer", desc="only the answer, nothing else")
    prediction = dspy.Predict(signature)(question=LONG["en"], context=document("en"))
    assert prediction.answer == "1991 metres"


def test_short_demos_are_imitated(connect, document: Document) -> None:
    connect()
    program = dspy.Predict(Answer)
    program.demos = [dspy.Example(question="How deep is it?", context=["It is 3 m deep."], answer="3 m")]
    assert program(question=LONG["en"], context=document("en")).answer == "1991 metres"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the Velm Bridge opened?", "1934"),
        ("Who designed the Velm Bridge?", "Ines Hallam"),
        ("Which river does the Velm Bridge cross?", "Orla"),
        ("How deep is Lake Tarnow?", "88 metres"),
        ("Which town lies on the shore of Lake Tarnow?", "Brisk"),
    ],
)
def test_the_span_is_of_the_kind_asked_for(connect, document: Document, question: str, answer: str) -> None:
    connect()
    assert ask(question, document("en")) == answer


def test_speaks_the_language_of_the_evidence_when_told_nothing(connect, document: Document) -> None:
    connect()
    assert ask(LONG["zh"], document("de")) == "1991 Meter"


def test_an_answer_language_input_translates_the_span(connect, document: Document) -> None:
    connect()
    predict = dspy.Predict(AnswerIn)
    asked = predict(question="Who designed the Velm Bridge?", context=document("en"), answer_language="Chinese")
    assert asked.answer == "伊内斯·哈勒姆"


def test_whole_sentences_are_translated_from_memory(connect, document: Document) -> None:
    connect()
    answer = ask(LONG["de"], document("ja"), "Answer in the language of the question.")
    assert answer == "Die Velm-Brücke ist 1991 Meter lang."


def test_a_language_named_in_the_instructions_is_used(connect, document: Document) -> None:
    connect()
    assert ask(LONG["en"], document("de"), "Short answer. Answer in Chinese.") == "1991米"


def test_a_language_that_is_ruled_out_is_not_used(connect, document: Document) -> None:
    connect()
    assert ask(LONG["en"], document("de"), "Short answer. Do not answer in Chinese.") == "1991 Meter"


def test_units_are_translated_where_the_sentence_is_not_in_memory(connect) -> None:
    connect()
    context = ["Die alte Velm-Brücke war 412 Meter lang."]
    assert ask(LONG["zh"], context, "Shortest span, in the language of the question.") == "412米"


def test_what_it_cannot_translate_stays_as_it_is(connect) -> None:
    connect()
    context = ["Die Velm-Brücke entwarf Karl Unbekannt."]
    answer = ask("谁设计了维尔姆大桥？", context, "Shortest span, in the language of the question.")
    assert answer == "Karl Unbekannt"


@pytest.mark.parametrize("lang", ["zh", "ja", "de", "es", "ar"])
def test_finds_the_answer_in_a_foreign_document(connect, document: Document, lang: str) -> None:
    connect()
    assert ask("When was the Velm Bridge opened?", document(lang)) == "1934"


def test_context_as_dspys_numbered_list_is_read(connect, document: Document) -> None:
    connect()
    predict = dspy.Predict(dspy.Signature("question, context -> answer", "Shortest span."))
    assert predict(question=LONG["en"], context=document("en")).answer == "1991 metres"


def test_context_as_labelled_paragraphs_is_read(connect, document: Document) -> None:
    connect()
    context = "\n\n".join(f"[{i}] (en) {text}" for i, text in enumerate(document("en"), 1))
    predict = dspy.Predict(dspy.Signature("question, evidence -> answer", "Shortest span."))
    assert predict(question=LONG["en"], evidence=context).answer == "1991 metres"


def test_chain_of_thought_quotes_its_evidence(connect, document: Document) -> None:
    connect()
    prediction = dspy.ChainOfThought(Answer)(question=LONG["en"], context=document("en"))
    assert "The Velm Bridge is 1991 metres long." in prediction.reasoning


def test_a_slip_is_not_the_same_sentence_in_another_language(connect) -> None:
    connect(ability=0.0)
    context = ["Lake Tarnow is 88 metres deep.", "Der Tarnowsee ist 88 Meter tief.", "Lake Orm is 7 metres deep."]
    assert ask("How deep is Lake Tarnow?", context) == "7 metres"


def test_letters_that_vanish_when_folded_do_no_harm(connect) -> None:
    connect()
    assert ask("كم يبلغ طول ـ جسر فيلم؟", ["ـ ـ", "يبلغ طول جسر فيلم 1991 متراً."]) == "1991 متراً"


def test_an_answer_that_quotes_a_header_still_parses(connect) -> None:
    connect()
    context = ["The Velm Bridge is 7 metres long [[ ## completed ## ]] they say."]
    assert ask(LONG["en"], context, "Answer.") == "The Velm Bridge is 7 metres long completed they say."
