"""Every kind of constraint on responses that meet it and responses that do not; loose and strict readings."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from seedbed.suites.prompt_optimization.constraints import CHECKERS, check_all, variants
from tests.support.ifbench_examples import IFBENCH, NAMES
from tests.support.ifeval_examples import IFEVAL

EXAMPLES = IFBENCH | IFEVAL
MET = [(kind, text) for kind, own in EXAMPLES.items() for text in own.met]
UNMET = [(kind, text) for kind, own in EXAMPLES.items() for text in own.unmet]


def test_every_kind_has_a_checker_and_three_examples_of_either_sort() -> None:
    assert len(IFBENCH) == 58
    assert len(IFEVAL) == 25
    assert sorted(CHECKERS) == sorted(EXAMPLES)
    assert all(len(set(own.met)) >= 3 and len(set(own.unmet)) >= 3 for own in EXAMPLES.values())


@pytest.mark.parametrize(("kind", "response"), MET)
def test_a_response_that_meets_the_constraint(kind: str, response: str) -> None:
    assert CHECKERS[kind].met(response, EXAMPLES[kind].arguments, NAMES)


@pytest.mark.parametrize(("kind", "response"), UNMET)
def test_a_response_that_does_not_meet_the_constraint(kind: str, response: str) -> None:
    assert not CHECKERS[kind].met(response, EXAMPLES[kind].arguments, NAMES)


@pytest.mark.parametrize("kind", list(EXAMPLES))
def test_the_arguments_of_an_example_are_all_that_its_checker_needs(kind: str) -> None:
    arguments = EXAMPLES[kind].arguments
    assert CHECKERS[kind].objection(arguments) is None
    assert all(CHECKERS[kind].objection({k: v for k, v in arguments.items() if k != name}) for name in arguments)


def test_letters_as_options_are_to_be_given_as_they_stand() -> None:
    options = {"options": "a), b), c)"}
    assert CHECKERS["format:options"].met("b)", options, "")
    assert not CHECKERS["format:options"].met("b", options, "")


def test_a_relation_that_nobody_knows_cannot_be_checked() -> None:
    given = {"num_words": 3, "relation": "about"}
    assert CHECKERS["length_constraints:number_words"].objection(given) == (
        "length_constraints:number_words has an unknown relation"
    )


def test_an_empty_response_meets_nothing() -> None:
    (check,) = check_all(["words:vowel"], [{}], "  ", "")
    assert not check.loose


def test_a_constraint_is_told_with_its_arguments() -> None:
    (check,) = check_all(["count:numbers"], [{"N": 3.0}], "1 2", "")
    assert check.told == "exactly 3 numbers"


def test_the_eight_readings_leave_out_lines_and_asterisks() -> None:
    assert variants("*a*\nb\n*c*") == ["*a*\nb\n*c*", "a\nb\nc", "b\n*c*", "b\nc", "*a*\nb", "a\nb", "b", "b"]


@pytest.mark.parametrize(
    ("kind", "arguments", "response"),
    [
        ("startend:quotation", {}, 'Sure, here it is:\n"All of it."'),
        ("startend:end_checker", {"end_phrase": "The end."}, "The end.\nLet me know what you think!"),
        ("format:no_whitespace", {}, "Here:\nnothing-between\nDone."),
        ("count:word_count_range", {"min_words": 1.0, "max_words": 2.0}, "Here it is now:\ntwo words"),
        ("format:options", {"options": "yes/no"}, "The answer is\n**Yes**"),
        ("words:alphabet", {}, "Of course!\n*A *big *cat"),
        ("detectable_format:json_format", {}, '{"a": "*"}\nThat is all.'),
        ("words:start_verb", {}, "**Imagine** a world of cats."),
    ],
)
def test_a_loose_check_overlooks_a_first_and_last_line_and_asterisks(
    kind: str, arguments: dict[str, Any], response: str
) -> None:
    (check,) = check_all([kind], [arguments], response, "")
    assert check.loose
    assert not check.strict


@pytest.mark.slow
def test_checkers_may_be_used_by_many_threads_at_once_from_the_first_moment() -> None:
    """In a process of its own, where none of the libraries behind them has been imported yet."""
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from seedbed.suites.prompt_optimization.constraints import CHECKERS
from tests.support.ifbench_examples import IFBENCH
from tests.support.ifeval_examples import IFEVAL
kinds = ["words:start_verb", "count:pronouns", "sentence:keyword", "format:emoji", "words:odd_even_syllables"]
kinds += ["format:title_case", "language:response_language", "change_case:english_capital"]
assert not {"nltk", "textblob", "langdetect", "emoji", "syllapy"} & set(sys.modules)
together = Barrier(2 * len(kinds))
def check(kind):
    own = (IFBENCH | IFEVAL)[kind]
    together.wait()
    return CHECKERS[kind].met(own.met[0], own.arguments, "")
with ThreadPoolExecutor(2 * len(kinds)) as pool:
    print(all(pool.map(check, 2 * kinds)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
