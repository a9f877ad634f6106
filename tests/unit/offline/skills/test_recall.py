from __future__ import annotations

import dspy
import pytest

SHORT = "Answer with the shortest span."


def ask(question: str, instructions: str = SHORT, **inputs: object) -> str:
    names = ", ".join(["question", *inputs])
    return dspy.Predict(dspy.Signature(f"{names} -> answer", instructions))(question=question, **inputs).answer


def test_a_known_fact_is_recalled(connect) -> None:
    connect()
    assert ask("What is the capital of Norland?") == "Kestrel"


def test_all_keywords_must_occur(connect) -> None:
    connect()
    assert ask("What is the capital of Sudland?") == "I don't know."


def test_answers_with_a_clause_when_told_nothing(connect) -> None:
    connect()
    assert ask("What is the capital of Norland?", "Answer.") == "The answer is Kestrel."


def test_speaks_the_language_of_the_question(connect) -> None:
    connect()
    assert ask("诺兰的首都是哪里？") == "凯斯特"


def test_speaks_the_language_it_is_told(connect) -> None:
    connect()
    assert ask("What is the capital of Norland?", answer_language="中文") == "凯斯特"


@pytest.mark.parametrize(
    ("tag", "phrase"),
    [("zh-CN", "我不知道。"), ("ja", "わかりません。"), ("German", "Das weiß ich nicht."), ("español", "No lo sé.")],
)
def test_ignorance_is_admitted_in_the_language_asked_for(connect, tag: str, phrase: str) -> None:
    connect()
    assert ask("Who painted it?", answer_language=tag) == phrase


@pytest.mark.parametrize("context", ["", "N/A", "No external documents.", "The weather was mild that week."])
def test_reading_falls_back_to_recall_when_the_context_does_not_help(connect, context: str) -> None:
    connect()
    assert ask("What is the capital of Norland?", context=context) == "Kestrel"


def test_a_model_without_ability_forgets(connect) -> None:
    connect(ability=0.0)
    assert ask("What is the capital of Norland?") == "I don't know."
