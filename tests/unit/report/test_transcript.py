from __future__ import annotations

from seedbed.report.transcript import received, sent

PICTURE = "data:image/png;base64,iVBORw0KGgo="


def test_tools_thoughts_and_pictures_stand_in_their_order() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"word": "x"}'}}
    asked = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    messages = [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
    ]
    told = {"request": {"messages": messages}, "response": None}
    assert sent(told) == [
        ("user", "What is it?"),
        ("user · image", PICTURE),
        ("assistant · reasoning", "hm"),
        ("assistant · calls look_up (c1)", {"word": "x"}),
        ("tool result of c1", "a cat"),
    ]
    assert received(told) == []


def test_what_came_back_is_shown_whatever_it_is() -> None:
    broken = {"id": "c2", "function": {"name": "count", "arguments": "{no json"}}
    choices = [
        {"message": {"role": "assistant", "content": None, "tool_calls": [broken]}},
        {"message": {"role": "assistant", "content": "Yes.", "annotations": [{"url": "u"}]}},
        {"message": {"role": "assistant", "content": None, "refusal": "I will not."}},
        {"message": None},
    ]
    assert received({"request": None, "response": {"choices": choices}}) == [
        ("received · calls count (c2)", "{no json"),
        ("received", "Yes."),
        ("received · more", {"annotations": [{"url": "u"}]}),
        ("received · refusal", "I will not."),
    ]
