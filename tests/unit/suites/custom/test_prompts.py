"""What a prompt of one's own sends, and how its reply is read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError

from seedbed.suite import Benchmark, Case
from seedbed.suites.custom.options import PromptOptions
from seedbed.suites.custom.programs import Templated, build
from seedbed.suites.custom.template import fill, parts_of

CASES = [
    Case(str(i), {"country": name, "note": "n"}, f"C{i}") for i, name in enumerate(("Peru", "Chad", "Togo", "Oman"))
]


def program(seed: int = 0, **options: Any) -> Any:
    benchmark = Benchmark("b", CASES[:1], train=CASES[1:])
    return build(cast(Any, SimpleNamespace(benchmark=benchmark, seed=seed)), PromptOptions.model_validate(options))


def sent(made: Any, **inputs: Any) -> list[dict[str, Any]]:
    adapter, predict = made._adapter, made.predict
    demos = [dict(demo.items()) for demo in predict.demos]
    return adapter.format(predict.signature, demos, {"country": "Peru", **inputs})


def test_the_prompt_is_sent_as_it_is_written() -> None:
    made = program(prompt='Of {country}? As {"a": {"b": 1}}, not {{country}}.')
    assert sent(made) == [{"role": "user", "content": 'Of Peru? As {"a": {"b": 1}}, not {country}.'}]


def test_a_value_that_looks_like_a_template_stays_as_it_is() -> None:
    assert fill("{a} {b}", {"a": "{b}", "b": ["x", 1]}) == '{b} ["x", 1]'


def test_system_and_user_parts_and_choices() -> None:
    made = program(system="Only {choices}.", prompt="Is {country} big?", choices=["yes", "no"])
    assert sent(made) == [
        {"role": "system", "content": "Only yes, no."},
        {"role": "user", "content": "Is Peru big?"},
    ]
    assert made._adapter.parse(made.predict.signature, "Yes.") == {"answer": "yes"}
    assert made._adapter.parse(made.predict.signature, "Who knows") == {"answer": "Who knows"}


def test_examples_are_drawn_from_train_by_the_seed() -> None:
    first = sent(program(prompt="Of {country}?", examples=2))
    assert [message["role"] for message in first] == ["user", "assistant", "user", "assistant", "user"]
    assert first[-1]["content"] == "Of Peru?"
    assert {m["content"] for m in first if m["role"] == "assistant"} <= {"C1", "C2", "C3"}
    assert first == sent(program(prompt="Of {country}?", examples=2))
    assert any(first != sent(program(seed, prompt="Of {country}?", examples=2)) for seed in range(1, 6))


def test_a_rewritten_prompt_loses_no_column() -> None:
    made = program(prompt="Of {country}?")
    made.predict.signature = made.predict.signature.with_instructions("Name the capital. Think {twice}.")
    assert sent(made)[0]["content"] == "Name the capital. Think {twice}.\n\ncountry: Peru"
    apart = program(system="You know {country}.", prompt="Its capital?")
    apart.predict.signature = apart.predict.signature.with_instructions("You know a lot.")
    assert [m["content"] for m in sent(apart)] == ["You know a lot.", "Its capital?\n\ncountry: Peru"]


def test_a_reply_must_fit_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["city"],
    }
    made: Templated = program(prompt="{country}", json_schema=schema)
    read = made._adapter.parse
    signature: Any = made.predict.signature
    assert read(signature, 'Well: ```json\n{"city": "Lima", "sure": true}\n```') == {
        "answer": {"city": "Lima", "sure": True}
    }
    for reply in ("Lima", '{"city": 3}', "{city"):
        with pytest.raises(AdapterParseError):
            read(signature, reply)


def test_the_output_that_is_scored_can_be_chosen() -> None:
    made = program(signature="country -> capital, note: int", answer="capital", choices=["Lima", "Quito"])
    assert made.answer_field == "capital"
    assert made.predict.signature.output_fields["capital"].annotation.__args__ == ("Lima", "Quito")
    thinking = program(signature="country -> capital", module="cot", instructions="Go.")
    assert isinstance(thinking.predict, dspy.ChainOfThought)
    assert thinking.predictors()[0].signature.instructions == "Go."


def test_a_file_has_a_system_and_a_user_part() -> None:
    parts = parts_of("[system]\nBe brief.\n\n[user]\n{q}\n[1] is no part.\n")
    assert (parts.system, parts.user) == ("Be brief.", "{q}\n[1] is no part.")
    assert parts_of(" {q} ").user == "{q}"
