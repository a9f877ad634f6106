"""The quick adapter beside DSPy's own: the same words, with the description made once."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from seedbed.lm.adapter import QuickChatAdapter, quick_adapter


def test_it_has_the_settings_of_dspys_own() -> None:
    ours, plain = dict(vars(QuickChatAdapter())), vars(dspy.ChatAdapter())
    assert ours.pop("_described") is not None
    assert ours.keys() == plain.keys()
    assert quick_adapter() is quick_adapter()


def test_a_signature_is_described_once_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    described = list[Any]()
    whole = dspy.ChatAdapter.format_system_message

    def noted(self: Any, signature: Any) -> str:
        described.append(signature)
        return whole(self, signature)

    monkeypatch.setattr(dspy.ChatAdapter, "format_system_message", noted)
    signature: Any = dspy.ensure_signature("question -> answer")
    quick = QuickChatAdapter()
    assert quick.format_system_message(signature) == quick.format_system_message(signature)
    assert len(described) == 1
    signature.fields["answer"].json_schema_extra["desc"] = "a number"
    assert "a number" in quick.format_system_message(signature)
    assert len(described) == 2


@pytest.mark.parametrize(
    "inputs", [{"context": ["a", "b"]}, {"context": ["a"], "question": "q"}, {"question": "q"}, {}]
)
@pytest.mark.parametrize("main_request", [False, True])
def test_what_is_given_is_said_as_dspy_says_it(inputs: dict[str, Any], main_request: bool) -> None:
    signature: Any = dspy.ensure_signature("question, context: list[str] -> answer")
    ours, plain = (
        adapter.format_user_message_content(signature, inputs, "before", "after", main_request)
        for adapter in (QuickChatAdapter(), dspy.ChatAdapter())
    )
    assert ours == plain
    assert QuickChatAdapter().format_user_message_content(
        signature, inputs
    ) == dspy.ChatAdapter().format_user_message_content(signature, inputs)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(("form", "by"), [("chat", "chat"), ("json", "json"), ("xml", "xml"), (None, "chat")])
def test_a_model_is_asked_in_the_form_that_it_names(
    monkeypatch: pytest.MonkeyPatch, way: str, form: str | None, by: str
) -> None:
    asked = list[str]()

    def stand_in(name: str, owner: Any) -> None:
        async def acall(*_: Any, **__: Any) -> list[Any]:
            asked.append(name)
            return []

        def call(*_: Any, **__: Any) -> list[Any]:
            asked.append(name)
            return []

        monkeypatch.setattr(owner, "acall", acall)
        monkeypatch.setattr(owner, "__call__", call)

    for name, owner in (("chat", dspy.ChatAdapter), ("json", dspy.JSONAdapter), ("xml", dspy.XMLAdapter)):
        stand_in(name, owner)
    lm: Any = SimpleNamespace() if form is None else SimpleNamespace(adapter=form)
    quick, rest = QuickChatAdapter(), {"lm_kwargs": {}, "signature": None, "demos": [], "inputs": {}}
    if way == "sync":
        quick(lm, **rest)
    else:
        asyncio.run(quick.acall(lm, **rest))
    assert asked == [by]
