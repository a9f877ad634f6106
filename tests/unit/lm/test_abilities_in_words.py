"""What is believed of a model without asking anybody: from its config, and from the catalogue."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.abilities import Abilities, abilities_of, takes_images
from seedbed.sweep.model_config import ModelConfig

OWN = "http://127.0.0.1:9/v1"
LLAMA = {"response_format", "seed", "temperature", "max_tokens", "top_p"}


def _of(name: str, **settings: Any) -> Abilities:
    return abilities_of(ModelConfig.model_validate({"model": name, **settings}))


def test_of_the_offline_model_nothing_is_believed() -> None:
    assert _of("offline/reader") == Abilities(
        function_calling=False, reasoning=False, response_schema=False, params=frozenset()
    )


def test_a_local_model_answers_to_schemas_and_takes_no_tools() -> None:
    assert _of("local/smollm2-135m") == Abilities(
        function_calling=False, reasoning=False, response_schema=True, params=frozenset(LLAMA)
    )


@pytest.mark.parametrize(
    ("structured", "schema", "takes_format"),
    [("auto", True, True), ("schema", True, True), ("json", False, True), ("off", False, False)],
)
def test_the_word_for_answers_in_a_form_counts_before_what_is_known(
    structured: str, schema: bool, takes_format: bool
) -> None:
    found = _of("local/smollm2-135m", structured=structured)
    assert (found.response_schema, "response_format" in found.params) == (schema, takes_format)
    assert found.params | {"response_format"} == LLAMA


@pytest.mark.parametrize(("structured", "schema"), [("schema", True), ("json", False)])
def test_a_server_of_ones_own_takes_a_form_where_the_config_says_so(structured: str, schema: bool) -> None:
    found = _of("offline/reader", structured=structured)
    assert found == Abilities(response_schema=schema, params=frozenset({"response_format"}))


@pytest.mark.parametrize(("tools", "takes"), [("auto", False), ("on", True), ("off", False)])
def test_the_word_for_tools_counts_before_what_is_known(tools: str, takes: bool) -> None:
    found = _of("local/smollm2-135m", tools=tools)
    assert found.function_calling is takes
    assert found.params == frozenset(LLAMA | ({"tools", "tool_choice"} if takes else set()))
    off = _of("openai/gpt-4.1", tools="off")
    assert not off.function_calling
    assert not {"tools", "tool_choice"} & off.params


@pytest.mark.parametrize(
    ("name", "settings", "takes"),
    [
        ("openai/gpt-4o", {}, True),
        ("openai/gpt-3.5-turbo", {}, False),
        ("openai/nobody-knows", {}, None),
        ("openai/gpt-4o", {"api_base": OWN}, None),
        ("offline/reader", {}, None),
        ("local/smollm2-135m", {}, False),
    ],
)
def test_whether_a_model_takes_pictures_is_said_only_where_it_is_known(
    name: str, settings: dict[str, Any], takes: bool | None
) -> None:
    assert takes_images(ModelConfig.model_validate({"model": name, **settings})) is takes
