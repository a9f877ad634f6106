"""A chat body or a batch of texts as attempts of the runtime, for who came through the gateway."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.attempts import Binding
from seedbed.lm.chat import Call, Chat, is_random
from seedbed.lm.embeddings import Embedder
from seedbed.lm.gateway.grants import Gone, Grant, Turn
from seedbed.lm.request_size import LENGTHS
from seedbed.lm.types import JsonDict
from seedbed.lm.usage import told_usage

if TYPE_CHECKING:
    from seedbed.lm.runtime import LMRuntime

_NOT_SENT = ("model", "stream", "stream_options", "n")


async def complete(runtime: LMRuntime, grant: Grant, asked: JsonDict, gone: Gone) -> JsonDict:
    """One attempt at a body; with `n` above 1 so many, each an answer of its own. What the client leaves open is as the
    config says. Whoever wants another attempt after a failure asks again."""
    binding = grant.bind(grant.role)
    body = _body(asked, binding)
    count = asked.get("n") or 1
    with grant.turns.taken(_digest(binding.normalise(body)), count, gone) as turns:
        return _joined(await _all(runtime, binding, grant, body, turns))


async def embed(runtime: LMRuntime, grant: Grant, inputs: list[Any], options: JsonDict) -> JsonDict:
    """The recorded reply to a batch of texts, by the model of the role `embedding` where the config names one."""
    embedder = Embedder(runtime, grant.bind("embedding" if grant.role == "task" else grant.role))
    return await embedder.reply(inputs, options, grant.sample[0])


async def _all(
    runtime: LMRuntime, binding: Binding, grant: Grant, body: JsonDict, turns: Sequence[Turn]
) -> list[JsonDict]:
    random = is_random(body)
    calls = [Call(candidate=turn.place if random else 0, number=turn.tries) for turn in turns]
    chat = Chat(runtime, binding)
    asked = [runtime.attempt(chat.query(body, lambda reply, _: _readable(reply), c, grant.sample)) for c in calls]
    # All of them end, also beside one that failed: they are paid for, and a second try finds them.
    done = await asyncio.gather(*asked, return_exceptions=True)
    for result in done:
        if isinstance(result, BaseException):
            raise result
    return [result for result in done if isinstance(result, dict)]


def _body(asked: JsonDict, binding: Binding) -> JsonDict:
    """What the config says of sampling, then what the client asks for, in the words of the model's server."""
    own = {name: value for name, value in asked.items() if name not in _NOT_SENT and value is not None}
    lengths = [own.pop(name) for name in LENGTHS if name in own]
    if lengths:
        own["max_completion_tokens"] = lengths[0]
    return codec.adapt({"model": binding.model.model, **codec.sampling(binding.model), **own}, binding.model)


def _digest(body: JsonDict) -> str:
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _joined(replies: Sequence[JsonDict]) -> JsonDict:
    """Several completions of one choice as one of several."""
    if len(replies) == 1:
        return replies[0]
    choices = [{**choice, "index": at} for at, reply in enumerate(replies) for choice in reply["choices"][:1]]
    told = [usage for reply in replies if (usage := told_usage(reply)) is not None]
    sent, received = sum(one.input for one in told), sum(one.output for one in told)
    usage = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    return {**replies[0], "choices": choices, "usage": usage}


def _readable(completion: JsonDict) -> JsonDict:
    """A completion whose parts are what all protocols take them for; another is a malformed answer."""
    for choice in codec.checked(completion)["choices"]:
        calls = choice["message"].get("tool_calls") or []
        if not (
            isinstance(calls, list)
            and all(isinstance(call, dict) and isinstance(call.get("function"), dict | None) for call in calls)
            and isinstance(choice.get("finish_reason"), str | None)
            and isinstance(choice.get("logprobs"), dict | None)
        ):
            raise ProviderError("malformed", "the response holds a choice that is none of the dialect")
    return completion
