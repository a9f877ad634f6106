"""What the offline model learns from suites and plugins, and in which order it tries it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dspy
import pytest

from seedbed.errors import UserError
from seedbed.lm.types import Attempt
from seedbed.offline import OfflineOptions, OfflineProvider, skill
from seedbed.offline.expertise import gather
from seedbed.offline.skill import Skill, register, registered
from seedbed.suite import Suite
from seedbed.sweep import registry
from seedbed.sweep.registry import import_plugins, register_suite

PLUGIN = """
from seedbed import Suite, register_suite

register_suite(Suite("greetings", "Greetings", {}, {}, score="", aggregate="", metrics=(), offline="MODULE"))
"""
SKILL = """
from seedbed.offline.skill import Call, Skill, asks_for, register


def greet(call: Call) -> dict[str, object]:
    return {"greeting": f"Good morning, {call.prompt.inputs['guest']}."}


register(__name__, skills=[Skill("greet", lambda prompt: asks_for(prompt, {"guest"}, {"greeting"}), greet)])
"""


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers ends with it."""
    gather()
    monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))
    monkeypatch.setattr(skill, "_registered", registered())


def _suite(offline: str) -> Suite:
    return Suite("greetings", "Greetings", {}, {}, score="", aggregate="", metrics=(), offline=offline)


def test_a_plugin_suite_teaches_the_model_its_own_skill(tmp_path: Path) -> None:
    (tmp_path / "greetings_plugin.py").write_text(PLUGIN.replace("MODULE", "greetings_offline"), "utf-8")
    (tmp_path / "greetings_offline.py").write_text(SKILL, "utf-8")
    import_plugins(["greetings_plugin"], tmp_path)
    provider = OfflineProvider("offline/test", OfflineOptions())
    messages = dspy.ChatAdapter().format(dspy.Signature("guest -> greeting"), [], {"guest": "Edda"})
    completion = asyncio.run(provider.chat({"messages": messages}, Attempt("key", None, 0, 1, 5.0)))
    assert "Good morning, Edda." in completion["choices"][0]["message"]["content"]


@pytest.mark.parametrize("name", sorted(registry._BUILT_IN))
def test_a_built_in_suite_teaches_the_model_something(name: str) -> None:
    assert registered()[registry.get_suite(name).offline or ""].skills


def test_the_order_does_not_depend_on_what_was_imported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gather()
    monkeypatch.setattr(skill, "_registered", dict(reversed(registered().items())))
    assert gather() == before


def test_a_plugin_is_tried_after_the_built_in_suites_and_before_the_general_skills() -> None:
    before = [one.name for one in gather().skills]
    register("a_plugin", skills=[Skill("mine", lambda _: False, lambda _: {})])
    general = len(registered()["seedbed.offline.skills"].skills)
    assert [one.name for one in gather().skills] == [*before[:-general], "mine", *before[-general:]]


def test_a_module_that_registers_again_replaces_what_it_taught() -> None:
    for name in ("old", "new"):
        register("a_plugin", skills=[Skill(name, lambda _: False, lambda _: {})])
    names = [one.name for one in gather().skills]
    assert "new" in names
    assert "old" not in names


def test_an_offline_module_that_is_not_there_is_named() -> None:
    register_suite(_suite("no_such_module"))
    with pytest.raises(UserError, match=r"suite 'greetings': cannot import its offline skills 'no_such_module'"):
        gather()
