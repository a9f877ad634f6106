"""OpenAI's embeddings."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from seedbed.lm.gateway.asking import embed
from seedbed.lm.gateway.protocols import Refusal
from seedbed.lm.gateway.protocols.openai_chat import openai_error
from seedbed.lm.types import JsonDict

if TYPE_CHECKING:
    from seedbed.lm.gateway.grants import Gone, Grant
    from seedbed.lm.runtime import LMRuntime

_OWN = ("model", "input", "encoding_format", "user")


class OpenAIEmbeddings:
    async def answer(self, runtime: LMRuntime, grant: Grant, body: JsonDict, gone: Gone) -> JsonDict | bytes:
        form = body.get("encoding_format") or "float"
        if form not in ("float", "base64"):
            raise Refusal(400, "encoding_format must be float or base64")
        options = {name: value for name, value in body.items() if name not in _OWN and value is not None}
        reply = await embed(runtime, grant, _inputs(body.get("input")), options)
        rows = sorted(reply["data"], key=lambda row: row["index"])
        data = [
            {"object": "embedding", "index": row["index"], "embedding": _in_form(row["embedding"], form)}
            for row in rows
        ]
        usage = reply.get("usage") or {"prompt_tokens": 0, "total_tokens": 0}
        return {"object": "list", "data": data, "model": reply.get("model") or "", "usage": usage}

    def error(self, refusal: Refusal) -> JsonDict:
        return openai_error(refusal)


def _inputs(given: Any) -> list[Any]:
    """A batch of texts, or of texts as numbers of their tokens."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list) and given:
        if all(isinstance(item, int) for item in given):
            return [given]
        if all(isinstance(item, str | list) for item in given):
            return given
    raise Refusal(400, "input must be a text, a list of texts, or lists of tokens")


def _in_form(value: str | list[float], form: str) -> str | list[float]:
    if form == "base64":
        return value if isinstance(value, str) else base64.b64encode(np.asarray(value, dtype="<f4").tobytes()).decode()
    return np.frombuffer(base64.b64decode(value), dtype="<f4").tolist() if isinstance(value, str) else value
