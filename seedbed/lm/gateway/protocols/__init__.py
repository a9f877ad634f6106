"""What every protocol gives: a client's request answered from a chat completion, in the protocol's own form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from typing import Protocol as Shape

import orjson

from seedbed.errors import SeedbedError
from seedbed.lm.types import JsonDict

if TYPE_CHECKING:
    from seedbed.lm.gateway.grants import Gone, Grant
    from seedbed.lm.runtime import LMRuntime


class Refusal(SeedbedError):
    """A request that gets an error for an answer."""

    def __init__(self, status: int, message: str, code: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.retry_after = retry_after


class Protocol(Shape):
    async def answer(self, runtime: LMRuntime, grant: Grant, body: JsonDict, gone: Gone) -> JsonDict | bytes:
        """The reply as an object, or as the bytes of a stream where the client asked for one."""
        ...

    def error(self, refusal: Refusal) -> JsonDict:
        """A refusal in the words of the protocol."""
        ...


def stream(events: Iterable[JsonDict], *, named: bool) -> bytes:
    """Server-sent events of a whole answer; `named` ones have their type on a line of its own."""
    parts: list[bytes] = []
    for event in events:
        if named:
            parts.append(b"event: " + str(event["type"]).encode() + b"\n")
        parts.append(b"data: " + orjson.dumps(event) + b"\n\n")
    return b"".join(parts)


def items(body: JsonDict, name: str) -> list[JsonDict]:
    """A list of objects in a request; refused where it is something else."""
    found = body.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise Refusal(400, f"{name} must be a list of objects")
    return found


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise Refusal(400, f"{name} must be a text")
    return value


def unsupported(what: str) -> Refusal:
    return Refusal(400, f"{what} is not known to the gateway; it answers one request with one call of a chat model")
