"""The offline model works on the suite's programs as an instruction says, and learns from the suite's feedback."""

from __future__ import annotations

from fractions import Fraction

import pytest

from seedbed.offline.skill import Advice, Call, Chance, Lesson, Lexicon, OutputField, Prompt
from seedbed.suites.prompt_optimization.offline.advice import BRIDGE, CHECK, REDACT
from seedbed.suites.prompt_optimization.offline.calculate import CALCULATE, solve
from seedbed.suites.prompt_optimization.offline.comply import COMPLY
from seedbed.suites.prompt_optimization.offline.hops import HOPS
from seedbed.suites.prompt_optimization.offline.privacy import PRIVACY

ABLE = Chance(seed=7, ability=1.0, noise=0.0)


def _call(instructions: str, inputs: dict[str, str], output: str) -> Call:
    return Call(Prompt(instructions, inputs, (OutputField(output),)), ABLE, Lexicon.load())


def test_a_query_follows_the_names_of_the_summary_when_told_to() -> None:
    inputs = {
        "question": "Where was the author of The Salt Orchard born?",
        "summary_1": "The Salt Orchard is by Edda Ravn.",
    }
    told = HOPS.answer(_call("Search for the names that the summary mentions.", inputs, "query"))
    assert told["query"] == "Edda Ravn"


def test_an_answer_is_as_short_as_wished() -> None:
    inputs = {
        "question": "In which town was Edda Ravn born?",
        "summary_1": "Edda Ravn was a painter born in Calder in 1820.",
        "summary_2": "",
    }
    assert HOPS.answer(_call("Give the shortest answer.", inputs, "answer"))["answer"] == "Calder"


@pytest.mark.parametrize(
    ("problem", "value"),
    [
        ("Find the remainder when 7^3 + 2 is divided by 11.", 345 % 11),
        ("Compute 1/2 + 1/3.", Fraction(5, 6)),
        ("Solve 3x + 4 = 19 for x.", 5),
        ("How many positive divisors does 36 have?", 9),
        ("In how many ways can one choose 2 of 6 books?", 15),
    ],
)
def test_exercises_are_solved(problem: str, value: Fraction) -> None:
    assert solve(problem) == value


def test_an_exercise_is_answered_with_the_bare_number_when_told_to() -> None:
    inputs = {"problem": "Compute 6 * 7."}
    answer = CALCULATE.answer(_call("Work step by step and give only the integer.", inputs, "answer"))
    assert answer["answer"] == "42"


def test_constraints_are_met_when_told_to() -> None:
    inputs = {"query": "Why is the sea salty? Answer with one of the following options: yes/no/maybe."}
    answer = COMPLY.answer(_call("Meet every constraint of the query.", inputs, "response"))
    assert answer["response"] == "maybe"


def test_private_details_are_left_out_when_told_to() -> None:
    inputs = {"user_query": "Please write to my landlord Jonas Weber about 12 Elm Street."}
    craft = next(skill for skill in PRIVACY if skill.name == "craft")
    request = str(craft.answer(_call("Remove all private names.", inputs, "llm_request"))["llm_request"])
    assert "Jonas" not in request
    assert "12" not in request
    assert "landlord" in request


@pytest.mark.parametrize(
    ("lesson", "advice"),
    [
        (
            Lesson(
                {"summary_1": "The Salt Orchard is by Edda Ravn."},
                {"query": "The Salt Orchard"},
                "Articles never retrieved by any query: 'Edda Ravn'.",
            ),
            BRIDGE,
        ),
        (Lesson({}, {"llm_request": "Write to Jonas."}, "It holds 50% of the user's private facts."), REDACT),
        (Lesson({}, {"final_response": "Yes."}, "NOT met: at least ten words."), CHECK),
    ],
)
def test_feedback_shows_which_advice_was_lacking(lesson: Lesson, advice: Advice) -> None:
    assert [one for one in (BRIDGE, REDACT, CHECK) if one.lacked(lesson)] == [advice]


def test_a_query_that_names_what_was_missing_lacked_no_advice() -> None:
    lesson = Lesson(
        {"summary_1": "It is by Edda Ravn."}, {"query": "Edda Ravn"}, "never retrieved by any query: 'Edda Ravn'."
    )
    assert not BRIDGE.lacked(lesson)
