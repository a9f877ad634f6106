"""The offline model does what an instruction says, and writes such instructions where feedback shows a lack of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from seedbed.lm.offline.chance import Chance
from seedbed.lm.offline.lexicon import default_lexicon
from seedbed.lm.offline.prompt import OutputField, Prompt
from seedbed.lm.offline.skill import Call
from seedbed.lm.offline.skills.advice import ALL, EMPTY, known_for
from seedbed.lm.offline.skills.calculate import CALCULATE, solve
from seedbed.lm.offline.skills.comply import COMPLY
from seedbed.lm.offline.skills.hops import HOPS
from seedbed.lm.offline.skills.privacy import PRIVACY
from seedbed.lm.offline.skills.reflect import REFLECT, diagnose

ABLE = Chance(seed=7, skill=1.0, noise=0.0)
DULL = Chance(seed=7, skill=0.0, noise=0.0)


def _call(instructions: str, inputs: dict[str, str], output: str, chance: Chance = ABLE) -> Call:
    return Call(Prompt(instructions, inputs, (OutputField(output),)), chance, default_lexicon())


@pytest.mark.parametrize("advice", ALL, ids=[advice.name for advice in ALL])
def test_its_own_wording_is_understood_and_empty_words_are_not(advice: object) -> None:
    assert advice.pattern.search(advice.says)  # type: ignore[attr-defined]
    assert not any(advice.pattern.search(words) for words in EMPTY)  # type: ignore[attr-defined]


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


def test_reflection_compares_what_was_written_with_what_was_expected() -> None:
    longer = {
        "Inputs": {"question": "q"},
        "Generated Outputs": {"answer": "It is Rome, I think"},
        "Feedback": "The answer is wrong. Only an exact match counts; expected was 'Rome'.",
    }
    other = longer | {"Generated Outputs": {"answer": "Paris"}}
    assert [advice.name for advice in diagnose(longer)] == ["short"]
    assert diagnose(other) == []


def test_a_model_without_skill_reflects_in_empty_words() -> None:
    feedback = '[{"Inputs": {}, "Generated Outputs": {"answer": "It is 5."}, "Feedback": "wrong; expected was \'5\'."}]'
    inputs = {"current_instruction": "Solve.", "examples_with_feedback": feedback}
    able = str(REFLECT.answer(_call("", inputs, "new_instruction"))["new_instruction"])
    dull = str(REFLECT.answer(_call("", inputs, "new_instruction", DULL))["new_instruction"])
    assert "bare number" in able
    assert dull.removeprefix("Solve.\n") in EMPTY


def test_experience_offers_advice_by_what_a_module_writes() -> None:
    assert [advice.name for advice in known_for(["reasoning", "query"])] == ["bridge"]
    assert known_for(["summary"]) == ()
