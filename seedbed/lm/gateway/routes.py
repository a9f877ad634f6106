"""What a client may ask, in which protocol, and how a refusal is said in it. Knows no socket: the server and the
transports of clients in this process hand requests in and replies out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from seedbed.errors import BudgetReached, ProviderError, SeedbedError, SweepStopped
from seedbed.lm.gateway.grants import Gone, Grant
from seedbed.lm.gateway.protocols import Protocol, Refusal
from seedbed.lm.gateway.protocols.anthropic_messages import AnthropicMessages
from seedbed.lm.gateway.protocols.openai_chat import OpenAIChat
from seedbed.lm.gateway.protocols.openai_embeddings import OpenAIEmbeddings
from seedbed.lm.gateway.protocols.openai_responses import OpenAIResponses
from seedbed.lm.types import JsonDict
from seedbed.storage.redact import redact

if TYPE_CHECKING:
    from seedbed.lm.runtime import LMRuntime

logger = logging.getLogger("seedbed.lm")

PROTOCOLS: Mapping[str, Protocol] = {
    "/v1/chat/completions": OpenAIChat(),
    "/v1/embeddings": OpenAIEmbeddings(),
    "/v1/responses": OpenAIResponses(),
    "/v1/messages": AnthropicMessages(),
}
_OPENAI, _ANTHROPIC = PROTOCOLS["/v1/chat/completions"], PROTOCOLS["/v1/messages"]
_MODELS = "/v1/models"
_STATUS: Mapping[str, int] = {
    "rate_limit": 429,
    "server": 500,
    "malformed": 502,
    "transport": 503,
    "timeout": 504,
    "auth": 401,
    "billing": 402,
    "context_length": 400,
    "invalid_request": 400,
}
_JSON, _EVENTS = "application/json", "text/event-stream"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    content: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])


def protocol_of(path: str, headers: Mapping[str, str]) -> Protocol:
    """The one to answer in; of an unknown path that of the client's library."""
    known = PROTOCOLS.get(path)
    if known is not None:
        return known
    return _ANTHROPIC if path.startswith("/v1/messages") or "anthropic-version" in headers else _OPENAI


def key_of(headers: Mapping[str, str]) -> str:
    """The key as a client sends it; header names are in lower case."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")


async def answer(runtime: LMRuntime, grant: Grant, path: str, content: bytes, gone: Gone) -> Reply:
    """One request of a client that was let in."""
    protocol = protocol_of(path, {})
    try:
        if path.startswith(_MODELS):
            return Reply(200, orjson.dumps(_models(grant)), {"Content-Type": _JSON})
        if path not in PROTOCOLS:
            raise Refusal(404, f"the gateway has no {path}; it knows {', '.join(PROTOCOLS)}")
        said = await protocol.answer(runtime, grant, _object(content), gone)
        kind = _EVENTS if isinstance(said, bytes) else _JSON
        return Reply(200, said if isinstance(said, bytes) else orjson.dumps(said), {"Content-Type": kind})
    except Refusal as refusal:
        return refused(protocol, refusal)
    except ProviderError as error:
        return refused(protocol, _of_provider(error))
    except SweepStopped as stopped:
        # No number that clients try again after.
        return refused(protocol, Refusal(402 if isinstance(stopped, BudgetReached) else 403, str(stopped), "stopped"))
    except SeedbedError as error:
        return refused(protocol, Refusal(400, str(error)))
    except Exception as error:
        logger.exception("the gateway failed at %s", path)
        return refused(protocol, Refusal(500, f"{type(error).__name__}: {error}"))


def refused(protocol: Protocol, refusal: Refusal) -> Reply:
    headers = {"Content-Type": _JSON}
    if refusal.retry_after is not None:
        headers["Retry-After"] = f"{refusal.retry_after:g}"
    masked = Refusal(refusal.status, redact(refusal.message), refusal.code)
    return Reply(refusal.status, orjson.dumps(protocol.error(masked)), headers)


def _of_provider(error: ProviderError) -> Refusal:
    code = "context_length_exceeded" if error.kind == "context_length" else error.kind
    kept = error.status if error.status is not None and error.kind in ("invalid_request", "server") else None
    status = kept if kept is not None and 400 <= kept < 600 else _STATUS[error.kind]
    return Refusal(status, error.message, code, error.retry_after)


def _object(content: bytes) -> JsonDict:
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Refusal(400, f"the request is not JSON ({error})") from None
    if not isinstance(body, dict):
        raise Refusal(400, "the request is not a JSON object")
    return body


def _models(grant: Grant) -> JsonDict:
    """Whatever name a client asks for, it is the model of its role that answers."""
    name = grant.bind(grant.role).model.model
    return {"object": "list", "data": [{"id": name, "object": "model", "created": 0, "owned_by": "seedbed"}]}
