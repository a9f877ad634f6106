from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from seedbed.lm.attempts import Binding
from seedbed.lm.gateway.clients import sync_client
from seedbed.lm.normalise import normalised
from seedbed.sweep.normalise_config import NormaliseRule
from tests.support import lm
from tests.support.loopback import Loopback

TIME: Any = {"pattern": r"\d\d:\d\d", "with": "TIME"}


def _rules(*given: Any) -> list[NormaliseRule]:
    return [NormaliseRule.model_validate(rule) for rule in given]


def test_an_expression_is_looked_for_in_every_text_and_a_path_names_one_place() -> None:
    body = {
        "user": "u-4711",
        "messages": [{"role": "user", "content": "it is 12:30"}, {"role": "tool", "content": [{"text": "at 09:15"}]}],
    }
    found = normalised(body, _rules(TIME, {"path": "user"}, {"path": "messages[1].role", "with": "x"}))
    assert found == {
        "user": "*",
        "messages": [{"role": "user", "content": "it is TIME"}, {"role": "x", "content": [{"text": "at TIME"}]}],
    }
    assert body["messages"][0]["content"] == "it is 12:30", "what is sent stays as it is"
    everywhere = normalised(body, _rules({"path": "messages[*].content"}))
    assert [message["content"] for message in everywhere["messages"]] == ["*", "*"]
    assert normalised(body, _rules({"path": "tools[0].name"})) == body


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a", {"a": "*", "n": 5, "l": [{"x": "1"}, ["2", "3"]]}),
        ("l[0].x", {"a": "t", "n": 5, "l": [{"x": "*"}, ["2", "3"]]}),
        ("l[1][1]", {"a": "t", "n": 5, "l": [{"x": "1"}, ["2", "*"]]}),
        ("l[1][*]", {"a": "t", "n": 5, "l": [{"x": "1"}, ["*", "*"]]}),
        ("l[1]", {"a": "t", "n": 5, "l": [{"x": "1"}, "*"]}),
        ("n", {"a": "t", "n": "*", "l": [{"x": "1"}, ["2", "3"]]}),
    ],
)
def test_a_path_leads_to_its_place_alone(path: str, found: Any) -> None:
    body = {"a": "t", "n": 5, "l": [{"x": "1"}, ["2", "3"]]}
    assert normalised(body, _rules({"path": path})) == found


@pytest.mark.parametrize("path", ["a[0]", "n[0]", "n[*]", "a.x", "l.x", "b", "l[7]", "l[0][0]", "l[1].x"])
def test_a_path_that_leads_nowhere_changes_nothing(path: str) -> None:
    body = {"a": "t", "n": 5, "l": [{"x": "1"}, ["2", "3"]]}
    assert normalised(body, _rules({"path": path})) == body


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({}, "either pattern"),
        ({"pattern": "a", "path": "b"}, "either pattern"),
        ({"pattern": "("}, "no regular expression"),
        ({"path": "messages[x]"}, "no path"),
        ({"pattern": "a", "with": r"\2"}, "does not fit"),
    ],
)
def test_a_rule_that_cannot_work_is_refused(rule: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        NormaliseRule.model_validate(rule)


def test_a_prompt_with_the_time_in_it_finds_its_answer_and_is_sent_as_it_is(tmp_path: Path) -> None:
    sent: list[bytes] = []
    with (
        Loopback(watch=lambda _, raw: sent.append(raw)) as server,
        lm.runtime(tmp_path, server) as runtime,
    ):

        def ask(moment: str, *rules: Any) -> str | None:
            def bind(role: str) -> Binding:
                return Binding(lm.scope(role=role, execution=moment), lm.model(server), (), tuple(_rules(*rules)))

            asked: Any = [{"role": "user", "content": f"It is {moment}. Is 4 even?"}]
            reply = sync_client(runtime, bind, "task").chat.completions.create(model="m", messages=asked)
            return reply.choices[0].message.content

        first = ask("12:30", TIME)
        assert b"It is 12:30" in sent[0]
        assert ask("12:31", TIME) == first
        assert len(sent) == 1
        assert ask("12:32") != first
        assert len(sent) == 2
