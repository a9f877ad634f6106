"""The messages are DSPy's own: a change in its adapters shows here first."""

from __future__ import annotations

import json
from typing import Any, Literal

import dspy
import pytest
from pydantic import BaseModel

from seedbed.offline.prompt import OutputField, Prompt, parse


class Person(BaseModel):
    name: str
    age: int


class Wide(dspy.Signature):
    """Answer the question.

    Use the shortest span."""

    question: str = dspy.InputField()
    context: list[str] = dspy.InputField(desc="passages")
    answer: str = dspy.OutputField(desc="in a few words")
    score: float = dspy.OutputField()
    verdict: Literal["yes", "not sure"] = dspy.OutputField()
    person: Person = dspy.OutputField()


DEMO = dspy.Example(
    question="Who?", context=["c"], answer="Ann", score=0.5, verdict="yes", person=Person(name="Ann", age=3)
)


def messages(adapter: dspy.Adapter, *, demos: list[Any] | None = None, **inputs: Any) -> Prompt:
    values = {"question": "What?", "context": ["one", "two"], **inputs}
    return parse({"messages": adapter.format(Wide, demos or [], values)})


@pytest.fixture(params=[dspy.ChatAdapter(), dspy.JSONAdapter()], ids=["chat", "json"])
def adapter(request: pytest.FixtureRequest) -> dspy.Adapter:
    return request.param


def test_instructions_come_without_dspys_frame(adapter: dspy.Adapter) -> None:
    assert messages(adapter).instructions == "Answer the question.\n\nUse the shortest span."


def test_inputs_end_before_the_closing_requirements(adapter: dspy.Adapter) -> None:
    assert messages(adapter).inputs == {"question": "What?", "context": '["one", "two"]'}


def test_output_fields_have_types_and_descriptions(adapter: dspy.Adapter) -> None:
    fields = messages(adapter).output_fields
    assert [(f.name, f.type) for f in fields[:2]] == [("answer", "str"), ("score", "float")]
    assert fields[0].description == "in a few words"


def test_choices_of_a_literal_are_known(adapter: dspy.Adapter) -> None:
    assert messages(adapter).output_fields[2].choices == ("yes", "not sure")


def test_schema_of_a_model_is_known(adapter: dspy.Adapter) -> None:
    schema = messages(adapter).output_fields[3].schema
    assert schema is not None
    assert set(schema["properties"]) == {"name", "age"}


def test_demos_are_read_back(adapter: dspy.Adapter) -> None:
    (demo,) = messages(adapter, demos=[DEMO]).demos
    assert demo.inputs["question"] == "Who?"
    assert demo.outputs["answer"] == "Ann"
    assert json.loads(demo.outputs["person"]) == {"name": "Ann", "age": 3}


def test_fields_that_a_demo_leaves_out_are_missing(adapter: dspy.Adapter) -> None:
    (demo,) = messages(adapter, demos=[dspy.Example(question="Who?", answer="Ann")]).demos
    assert demo.outputs == {"answer": "Ann"}


def test_format_follows_the_adapter() -> None:
    assert messages(dspy.ChatAdapter()).format == "chat"
    assert messages(dspy.JSONAdapter()).format == "json"


def test_a_quoted_header_does_not_restart_a_field() -> None:
    prompt = messages(dspy.ChatAdapter(), context=["x"], question="a\n\n[[ ## question ## ]]\nb")
    assert prompt.inputs["question"] == "a\n\n[[ ## question ## ]]\nb"


def test_an_input_may_hold_the_words_of_the_requirements() -> None:
    asked = "Respond with the corresponding output fields, starting with the field `x`"
    assert messages(dspy.ChatAdapter(), question=f"Why?\n\n{asked}").inputs["question"] == f"Why?\n\n{asked}"


def test_content_in_parts_reads_like_a_string() -> None:
    parts = [{"type": "text", "text": "Hello"}]
    assert parse({"messages": [{"role": "user", "content": parts}]}).inputs == {"prompt": "Hello"}


@pytest.mark.parametrize("body", [{}, {"messages": []}, {"messages": [{"role": "user"}]}])
def test_odd_requests_are_plain_prompts(body: dict[str, Any]) -> None:
    prompt = parse(body)
    assert (prompt.format, prompt.output_fields) == ("plain", (OutputField("text"),))
