"""What the tests of protocols share: a grant, and a completion in the place of a call."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from seedbed.lm.attempts import Binding
from seedbed.lm.gateway import Grant
from seedbed.lm.gateway.protocols import Protocol
from seedbed.sweep.model_config import ModelConfig
from tests.support import lm


def grant(model: str = "openai/loop") -> Grant:
    config = ModelConfig.model_validate({"model": model, "api_base": "http://127.0.0.1:9/v1"})
    return Grant("key", lambda role: Binding(lm.scope(role=role), config), "task", ("q1", 0), "e1")


def completion(
    message: dict[str, Any] | None = None, usage: dict[str, Any] | None = None, **choice: Any
) -> dict[str, Any]:
    """One choice, and a second that no protocol but the chat's has a place for."""
    said = {"role": "assistant", "content": "yes", **(message or {})}
    choices = [{"message": said, "finish_reason": "stop", **choice}, {"message": {"content": "unread"}}]
    return {"id": "c1", "model": "loop-1", "created": 77, "choices": choices, **({"usage": usage} if usage else {})}


class Line:
    """A client's line to a protocol, at whose end the model says what is given."""

    def __init__(self, protocol: Protocol, monkeypatch: pytest.MonkeyPatch, model: str = "openai/loop") -> None:
        self.protocol, self.grant = protocol, grant(model)
        self.sent: list[dict[str, Any]] = []
        """Chat bodies, as the runtime gets them."""
        self._monkeypatch = monkeypatch

    def ask(self, body: dict[str, Any], given: dict[str, Any] | None = None) -> Any:
        """The reply: an object, or the events of a stream."""
        runtime: Any = None

        async def complete(_: Any, grant: Grant, asked: dict[str, Any], gone: Any) -> dict[str, Any]:
            self.sent.append(asked)
            return completion() if given is None else given

        module = type(self.protocol).__module__
        self._monkeypatch.setattr(f"{module}.complete", complete)
        reply = asyncio.run(self.protocol.answer(runtime, self.grant, body, lambda: False))
        return told(reply) if isinstance(reply, bytes) else reply


def told(stream: bytes) -> list[tuple[str | None, Any]]:
    """Names and contents of server-sent events."""
    found: list[tuple[str | None, Any]] = []
    for event in stream.decode().removesuffix("\n\n").split("\n\n"):
        *name, data = event.split("\n")
        content = data.removeprefix("data: ")
        assert content != data
        said = [line.removeprefix("event: ") for line in name]
        found.append((said[0] if said else None, content if content == "[DONE]" else json.loads(content)))
    return found
