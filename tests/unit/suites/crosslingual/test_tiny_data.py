"""The sample benchmark is whole: what one file says of another is true."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import seedbed
from seedbed.suites.crosslingual.metrics import exact_match, rlc

_PACKAGE = Path(seedbed.__file__).parent
_TINY = _PACKAGE / "suites" / "crosslingual" / "data" / "tiny"
_LANGS = ("en", "zh", "ja", "de", "es", "ar")
_FILES = ("parallel.jsonl", "names.jsonl", "corpus.jsonl", "questions.jsonl")


def _rows(name: str, folder: Path = _TINY) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_bytes().decode("utf-8").splitlines()]


_PARALLEL, _NAMES, _CORPUS, _QUESTIONS = map(_rows, _FILES)
_KNOWLEDGE = _rows("knowledge.jsonl", _PACKAGE / "offline")
_TOPICS = sorted({row["topic"] for row in _PARALLEL})


def _sentences(topic: str, lang: str) -> list[str]:
    rows = sorted((row for row in _PARALLEL if row["topic"] == topic), key=lambda row: row["n"])
    return [row[lang] for row in rows]


def _known(question: dict[str, Any]) -> list[str]:
    """Answers of all facts whose keywords the question holds."""
    asked, lang = question["question"].casefold(), question["lang"]
    facts = [row for row in _KNOWLEDGE if all(word.casefold() in asked for word in row["keywords"][lang])]
    return [row["answer"][lang] for row in facts]


@pytest.mark.parametrize("name", _FILES)
def test_each_line_is_an_object_and_ends_with_a_newline(name: str) -> None:
    text = (_TINY / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())


def test_sizes() -> None:
    assert len(_TOPICS) == 20
    assert Counter(row["topic"] for row in _PARALLEL) == dict.fromkeys(_TOPICS, 4)
    assert len(_QUESTIONS) == 240
    assert 100 <= len(_NAMES) <= 200


def test_sentences_and_names_are_in_all_languages() -> None:
    for row in [*_PARALLEL, *_NAMES]:
        assert all(row[lang].strip() == row[lang] != "" for lang in _LANGS), row


def test_sentences_are_written_in_the_script_of_their_language() -> None:
    for row in _PARALLEL:
        assert all(rlc(row[lang], lang) >= 0.8 for lang in _LANGS), row


def test_each_name_stands_once() -> None:
    assert max(Counter(row["en"] for row in _NAMES).values()) == 1


def test_sample_ids_are_unique_and_say_what_the_row_is() -> None:
    assert len({row["sample_id"] for row in _QUESTIONS}) == len(_QUESTIONS)
    for row in _QUESTIONS:
        assert row["sample_id"] == f"{row['question_id']}-{row['lang']}"
        assert row["question_id"].startswith(row["topic"])


def test_each_question_is_asked_in_all_languages() -> None:
    asked = Counter((row["question_id"], row["lang"]) for row in _QUESTIONS)
    assert set(asked.values()) == {1}
    assert Counter(row["lang"] for row in _QUESTIONS) == dict.fromkeys(_LANGS, 40)


def test_the_first_gold_stands_in_a_sentence_of_its_language() -> None:
    for row in _QUESTIONS:
        assert any(row["gold"][0] in sentence for sentence in _sentences(row["topic"], row["lang"])), row["sample_id"]


def test_the_golds_of_a_question_stand_in_the_same_sentence_in_all_languages() -> None:
    for question_id in {row["question_id"] for row in _QUESTIONS}:
        places = [
            {n for n, sentence in enumerate(_sentences(row["topic"], row["lang"])) if row["gold"][0] in sentence}
            for row in _QUESTIONS
            if row["question_id"] == question_id
        ]
        assert set.intersection(*places), question_id


def test_the_first_gold_is_a_name_that_can_be_translated() -> None:
    for row in _QUESTIONS:
        assert any(name[row["lang"]] == row["gold"][0] for name in _NAMES), row["sample_id"]


def test_a_document_is_the_sentences_of_its_topic() -> None:
    for row in _CORPUS:
        gap = "" if row["lang"] in ("zh", "ja") else " "
        assert row["doc_id"] == f"{row['topic']}-{row['lang']}"
        assert row["text"] == gap.join(_sentences(row["topic"], row["lang"]))


def test_a_document_has_its_title_in_every_language() -> None:
    for row in _CORPUS:
        assert {**row["titles"], row["lang"]: row["title"]} in _NAMES, row["doc_id"]


def test_each_topic_is_indexed_in_two_to_four_languages_and_all_languages_alike() -> None:
    assert set(Counter(row["topic"] for row in _CORPUS).values()) == {2, 3, 4}
    assert len(set(Counter(row["lang"] for row in _CORPUS).values())) == 1


def test_questions_name_all_documents_of_their_topic() -> None:
    for row in _QUESTIONS:
        assert row["doc_ids"] == [document["doc_id"] for document in _CORPUS if document["topic"] == row["topic"]]


def test_many_questions_have_no_document_in_their_language() -> None:
    missing = [row for row in _QUESTIONS if f"{row['topic']}-{row['lang']}" not in row["doc_ids"]]
    assert len(missing) / len(_QUESTIONS) >= 0.4


def test_the_first_sixty_rows_hold_all_languages_and_topics() -> None:
    first = _QUESTIONS[:60]
    assert min(Counter(row["lang"] for row in first)[lang] for lang in _LANGS) >= 8
    assert {row["topic"] for row in first} == set(_TOPICS)


def test_a_fact_known_by_heart_is_known_in_all_languages() -> None:
    for row in _KNOWLEDGE:
        assert set(row["keywords"]) == set(row["answer"]) == set(_LANGS)
        assert all(row["keywords"][lang] and row["answer"][lang] for lang in _LANGS)


def test_some_questions_and_not_most_can_be_answered_by_heart() -> None:
    right = {
        row["question_id"] for row in _QUESTIONS if any(exact_match(a, row["gold"], row["lang"]) for a in _known(row))
    }
    assert 6 <= len(right) <= 12


def test_what_is_known_by_heart_never_answers_a_question_wrongly() -> None:
    for row in _QUESTIONS:
        assert all(exact_match(answer, row["gold"], row["lang"]) for answer in _known(row)), row["sample_id"]
