"""The fast path: calls of texts alone, which are nearly all, on a shorter way than DSPy's general one.

DSPy turns the messages into its own request, checks it for media and tools, and the response back: more work than all
of Seedbed's. For texts the result is the same, and the key too, so that both ways share their answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from seedbed.lm import codec
from seedbed.lm.chat import Call, Chat
from seedbed.lm.compat.dspy import error_boundary
from seedbed.lm.types import JsonDict
from seedbed.sweep.model_config import ModelConfig

_SAMPLING = {
    "temperature": "temperature",
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_completion_tokens",
    "top_p": "top_p",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
_NOT_SENT = frozenset({"cache", "rollout_id"})
_MESSAGE = frozenset({"role", "content"})


async def call_fast(
    chat: Chat, model: ModelConfig, body: JsonDict, call: Call, sample: tuple[str | None, int], retries: int
) -> list[Any]:
    """The outputs for a body of `fast_path_body`, as `dspy.LM` gives them; retries and errors are DSPy's."""
    body = codec.adapt(body, model)
    while True:
        call.number += 1
        try:
            with error_boundary(model.model):
                return [await chat.attempt(body, codec.decode_output, call, sample)]
        except Exception as error:
            if call.number > retries or not dspy.is_retryable_lm_error(error):
                raise


def fast_path_body(lm: dspy.LM, prompt: Any, messages: Any, kwargs: Mapping[str, Any]) -> JsonDict | None:
    """The body of a call, or None where it needs DSPy's own way: media, tools, several answers, somebody listening."""
    settings = dspy.settings
    if settings.send_stream is not None or settings.usage_tracker is not None or not settings.disable_history:
        return None
    if lm.callbacks or settings.callbacks:
        return None
    body: JsonDict = {"model": lm.model, "messages": messages or [{"role": "user", "content": prompt}]}
    for name, value in {**lm.kwargs, **kwargs}.items():
        if value is None or name in _NOT_SENT or (name == "n" and value == 1):
            continue
        if name not in _SAMPLING or not isinstance(value, int | float):
            return None
        body[_SAMPLING[name]] = value
    return body if _texts_alone(body["messages"]) else None


def _texts_alone(messages: Sequence[Any]) -> bool:
    for at, message in enumerate(messages):
        if not isinstance(message, dict) or message.keys() != _MESSAGE:
            return False
        role, content = message["role"], message["content"]
        if (
            type(content) is not str
            or not content
            or (role not in ("user", "assistant") and (role, at) != ("system", 0))
        ):
            return False
    return True
