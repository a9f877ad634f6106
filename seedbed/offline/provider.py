"""The offline model behind the interface of a provider: latency, faults and a chat completion body around its reply."""

from __future__ import annotations

import asyncio
import json
from typing import Literal

from seedbed.errors import ProviderError
from seedbed.lm.nominal_tokens import count_tokens, truncate
from seedbed.lm.types import Attempt, JsonDict
from seedbed.offline.chance import uniform
from seedbed.offline.model import OfflineModel
from seedbed.offline.options import OfflineOptions
from seedbed.offline.prompt import text_of
from seedbed.offline.render import break_format
from seedbed.offline.tools import tool_call
from seedbed.sweep.model_config import ModelConfig

Fault = Literal["rate_limit", "server", "timeout", "malformed"]

_FAULTS: tuple[Fault, ...] = ("rate_limit", "server", "timeout", "malformed")
_RETRY_AFTER_S = 0.05  # long enough to be seen to be honoured, short enough for a demo
_SLOW = 10  # a reply that times out would have taken this many times the usual latency
_PER_MESSAGE = 3  # tokens that frame a message in chat formats


class OfflineProvider:
    """Answers in process. Which attempts fail depends on the request's key and the attempt's number alone."""

    def __init__(self, model_name: str, options: OfflineOptions | None = None) -> None:
        self.options = options or OfflineOptions()
        self.model = OfflineModel(model_name, self.options)

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        fault = self._fault(attempt)
        await self._wait(attempt, slow=fault == "timeout")
        if fault == "rate_limit":
            raise ProviderError("rate_limit", "offline: rate limit reached", status=429, retry_after=_RETRY_AFTER_S)
        if fault == "server":
            raise ProviderError("server", "offline: internal error", status=500)
        return self._completion(body, attempt, malformed=fault == "malformed")

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _fault(self, attempt: Attempt) -> Fault | None:
        """One draw for all faults, so that each comes at its own rate however high the others are."""
        draw = uniform("fault", attempt.key, attempt.number)
        for fault in _FAULTS:
            draw -= getattr(self.options.errors, fault)
            if draw < 0:
                return fault
        return None

    async def _wait(self, attempt: Attempt, *, slow: bool) -> None:
        latency_s = self.options.latency_ms / 1000 * (_SLOW if slow else 1)
        if latency_s > 0:
            await asyncio.sleep(min(latency_s, attempt.timeout_s))
        if slow or latency_s > attempt.timeout_s:
            raise ProviderError("timeout", f"offline: no reply within {attempt.timeout_s:g} s")

    def _completion(self, body: JsonDict, attempt: Attempt, *, malformed: bool) -> JsonDict:
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        choices: list[JsonDict] = []
        output_tokens = 0
        called = None if malformed else tool_call(body, attempt.key)
        for index in range(int(body.get("n") or 1)):
            if called is not None:
                output_tokens += count_tokens(json.dumps(called["tool_calls"]))
                choices.append({"index": index, "message": called, "finish_reason": "tool_calls"})
                continue
            whole = self.model.reply(body, attempt, choice=index)
            whole = break_format(whole) if malformed else whole
            text = truncate(whole, int(limit)) if limit else whole
            output_tokens += count_tokens(text)
            choices.append(
                {
                    "index": index,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop" if text == whole else "length",
                }
            )
        completion: JsonDict = {
            "id": f"offline-{attempt.key[:16]}-{attempt.number}",
            "object": "chat.completion",
            "created": 0,
            "model": self.model.name,
            "choices": choices,
        }
        if uniform("no_usage", attempt.key, attempt.number) >= self.options.errors.no_usage:
            completion["usage"] = _usage(body, output_tokens)
        return completion


def _usage(body: JsonDict, output_tokens: int) -> JsonDict:
    messages = body.get("messages") or ()
    input_tokens = sum(count_tokens(text_of(message)) + _PER_MESSAGE for message in messages)
    return {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }


def offline_provider(name: str, model: ModelConfig) -> OfflineProvider:
    """The provider behind `offline/NAME`."""
    return OfflineProvider(name, OfflineOptions.model_validate(dict(model.options)))
