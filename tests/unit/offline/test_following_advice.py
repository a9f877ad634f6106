"""The offline model writes instructions where feedback shows a lack of them, and understands its own wording."""

from __future__ import annotations

import pytest

from seedbed.offline.advice import EMPTY, known_for
from seedbed.offline.expertise import gather, lexicon_of
from seedbed.offline.skill import Advice, Call, Chance, Lesson, OutputField, Prompt
from seedbed.offline.skills.reflect import REFLECT

ABLE = Chance(seed=7, ability=1.0, noise=0.0)
DULL = Chance(seed=7, ability=0.0, noise=0.0)
KNOWN = gather()


def _call(instructions: str, inputs: dict[str, str], output: str, chance: Chance = ABLE) -> Call:
    prompt = Prompt(instructions, inputs, (OutputField(output),))
    return Call(prompt, chance, lexicon_of(KNOWN.data), KNOWN.advice)


@pytest.mark.parametrize("advice", KNOWN.advice, ids=[advice.name for advice in KNOWN.advice])
def test_its_own_wording_is_understood_and_empty_words_are_not(advice: Advice) -> None:
    assert advice.said_in(advice.says)
    assert not any(advice.said_in(words) for words in EMPTY)


@pytest.mark.parametrize(
    ("answer", "expected", "advice"),
    [
        ("It is Rome, I think", "Rome", ["short"]),
        ("Paris", "Rome", []),
        ("The answer is 42.", "42", ["integer"]),
        ("The answer is 41.", "42", ["steps"]),
    ],
)
def test_an_answer_is_compared_with_what_was_expected(answer: str, expected: str, advice: list[str]) -> None:
    feedback = f"The answer is wrong. Only an exact match counts; expected was '{expected}'."
    lesson = Lesson({"question": "q"}, {"answer": answer}, feedback)
    assert [one.name for one in KNOWN.advice if one.lacked(lesson)] == advice


def test_a_model_without_ability_reflects_in_empty_words() -> None:
    feedback = '[{"Inputs": {}, "Generated Outputs": {"answer": "It is 5."}, "Feedback": "wrong; expected was \'5\'."}]'
    inputs = {"current_instruction": "Solve.", "examples_with_feedback": feedback}
    able = str(REFLECT.answer(_call("", inputs, "new_instruction"))["new_instruction"])
    dull = str(REFLECT.answer(_call("", inputs, "new_instruction", DULL))["new_instruction"])
    assert "bare number" in able
    assert dull.removeprefix("Solve.\n") in EMPTY


def test_experience_offers_advice_by_what_a_module_writes() -> None:
    assert [advice.name for advice in known_for(["reasoning", "query"], KNOWN.advice)] == ["bridge"]
    assert known_for(["summary"], KNOWN.advice) == ()
