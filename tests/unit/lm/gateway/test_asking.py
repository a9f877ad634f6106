"""Several answers to one request of a client."""

from __future__ import annotations

from typing import Any

from seedbed.lm.gateway import asking


def reply(said: str, **usage: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"content": said}}
    return {"id": said, "choices": [choice, {"index": 1, "message": {"content": "unread"}}], "usage": usage or None}


def test_one_answer_stays_as_it_came_with_all_that_it_tells() -> None:
    alone = reply("a", prompt_tokens=3, completion_tokens=1, prompt_tokens_details={"cached_tokens": 2})
    assert asking._joined([alone]) is alone  # type: ignore[attr-defined]


def test_several_are_numbered_and_their_tokens_added_up() -> None:
    told = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    joined = asking._joined([reply("a", **told), reply("b", **told), reply("c")])  # type: ignore[attr-defined]
    assert [(choice["index"], choice["message"]["content"]) for choice in joined["choices"]] == [
        (0, "a"), (1, "b"), (2, "c"),
    ]  # fmt: skip
    assert joined["id"] == "a"
    assert {name: joined["usage"][name] for name in told} == {name: 2 * value for name, value in told.items()}
