"""Calls of plain texts, which are nearly all, on a shorter way than DSPy's general one.

DSPy turns the messages into its own request, checks it for media and tools, and the response back: more work than all
of Seedbed's. For texts the result is the same, and the key too, so that both ways share their answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dspy

from seedbed.lm.types import JsonDict

if TYPE_CHECKING:
    from seedbed.lm.exchange import Binding
    from seedbed.lm.lm import Call
    from seedbed.lm.runtime import LMRuntime

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


@dataclass(frozen=True, slots=True)
class PlainCall:
    """A call that can take the short way."""

    runtime: LMRuntime
    binding: Binding
    body: JsonDict
    retries: int

    async def run(self, call: Call, sample: tuple[str | None, int]) -> list[Any]:
        """The outputs, as `dspy.LM` gives them; retries and errors are DSPy's."""
        from dspy.clients.errors import error_boundary
        from dspy.utils.exceptions import is_retryable_lm_error

        model = self.binding.model.model
        while True:
            call.number += 1
            try:
                with error_boundary(model, unexpected=True):
                    return [await self.runtime.attempt_text(self.binding, self.body, call, sample)]
            except Exception as error:
                if call.number > self.retries or not is_retryable_lm_error(error):
                    raise


def plain_body(lm: dspy.LM, prompt: Any, messages: Any, kwargs: Mapping[str, Any]) -> JsonDict | None:
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
    return body if _plain(body["messages"]) else None


def _plain(messages: Sequence[Any]) -> bool:
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
