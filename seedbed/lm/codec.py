"""Between DSPy's requests and the JSON bodies that providers and the ledger share."""

from __future__ import annotations

import hashlib
import random
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from seedbed.errors import ProviderError
from seedbed.lm.abilities import abilities_of
from seedbed.lm.request_size import LENGTHS, number_meant
from seedbed.lm.types import JsonDict
from seedbed.lm.usage import told_usage
from seedbed.sweep.model_config import ModelConfig

if TYPE_CHECKING:
    from dspy.lm15 import OpenAIChatLM, Request, Response

KEY_VERSION = 1
"""Raise when the recipe of a key changes: stored responses are then not found any more."""

_TEXT_ROLES = frozenset({"user", "assistant"})
_TEXT_CONFIG = {
    "max_tokens": "max_completion_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
}
_SAID = frozenset({"role", "content"})
_MAX_BACKOFF_S = 60.0
_REASONING = re.compile(r"o[1345](-(mini|nano|pro))?(-\d{4}-\d{2}-\d{2})?$|gpt-5(\.\d+)*(?!-chat)(-.*)?$")


def encode(request: Request, model: ModelConfig) -> JsonDict:
    """The chat body of a request."""
    return adapt(_body_of_texts(request) or orjson.loads(_wire().build_request(request, False).body or b"{}"), model)


def adapt(body: JsonDict, model: ModelConfig) -> JsonDict:
    """The body in the words of the model's server, with the model's own `extra` fields in it."""
    if (model.api_base or not model.model.startswith("openai/")) and not is_reasoning_model(model.model):
        # Only OpenAI itself renamed this field; other servers know the old name.
        limit = body.pop("max_completion_tokens", None)
        if limit is not None:
            body["max_tokens"] = limit
    return {**body, **model.extra}


def limited(body: JsonDict, model: ModelConfig, tokens: int) -> JsonDict:
    """The body with a bound on the answer where it has none that can be reserved: a cap can hold only for what was."""
    meant = {name for name in LENGTHS if number_meant(body.get(name)) is not None}
    body = {name: value for name, value in body.items() if name not in LENGTHS or name in meant}
    if meant:
        return body
    renamed = (model.api_base is None and model.model.startswith("openai/")) or is_reasoning_model(model.model)
    return {**body, "max_completion_tokens" if renamed else "max_tokens": tokens}


def seeded(
    body: JsonDict, model: ModelConfig, seed: int, repeat: tuple[Any, ...], known_by: JsonDict | None = None
) -> JsonDict:
    """The body with a seed of its own where the provider takes one: the same request under the same seed of the sweep
    is sent with the same one wherever it is sent to, and every repeat with another."""
    wanted = model.send_seed == "on" or (model.send_seed == "auto" and "seed" in abilities_of(model).params)
    if not wanted or "seed" in body:
        return body
    same = body if known_by is None else known_by
    digest = hashlib.sha256(orjson.dumps([same, seed, repeat], option=orjson.OPT_SORT_KEYS)).digest()
    # Servers keep a seed in a signed number of 32 bits.
    return {**body, "seed": int.from_bytes(digest[:4], "big") >> 1}


def sampling(model: ModelConfig) -> JsonDict:
    """What the config says of sampling, in the fields of a body. OpenAI's reasoning models know only a temperature of
    their own; 0 is our default for them, not a wish."""
    reasoning = is_reasoning_model(model.model)
    wanted = {
        "temperature": None if reasoning and model.temperature == 0 else model.temperature,
        "max_completion_tokens": model.max_tokens,
        "top_p": model.top_p,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def is_reasoning_model(name: str) -> bool:
    """OpenAI's reasoning families, which take neither a temperature nor `max_tokens`."""
    return _REASONING.match(name.rpartition("/")[2].lower()) is not None


def request_key(body: JsonDict, model: ModelConfig, seed: int | None, repeat: tuple[Any, ...], draws: str = "") -> str:
    """Equal for requests that may share one answer: same model, messages, sampling, seed scope, repeat and draws."""
    identity = {
        "version": KEY_VERSION,
        "model": model.model,
        "api_base": model.api_base,
        "options": model.offline_identity,
        "body": body,
        "seed": seed,
        "repeat": repeat,
    }
    if draws:
        identity["pool"] = draws  # the word of stored keys: another one would lose their answers
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()


def decode(body: JsonDict, model: str) -> Response:
    """A chat completion as DSPy's response. A body it cannot read is a malformed answer, not a bug of ours."""
    from dspy.lm15 import LM15Error, response_from_openai_chat

    if body.get("usage") is not None and told_usage(body) is None:
        # Absurd figures say nothing against the answer; the tokens are estimated.
        body = {**body, "usage": None}
    checked(body)
    try:
        return _response_of_text(body, model) or response_from_openai_chat(body, model=model, choice=0)
    except (AttributeError, LookupError, TypeError, ValueError, LM15Error) as error:
        raise ProviderError("malformed", f"the response cannot be read ({error})") from error


def checked(body: JsonDict) -> JsonDict:
    """A completion with at least one message in it; another is a malformed answer."""
    for choice in _choices(body):
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            raise ProviderError("malformed", "the response holds a choice without a message")
    return body


def decode_output(body: JsonDict, model: str) -> Any:
    """A chat completion as the output `dspy.LM` makes of it: a text, or a mapping where there is more to tell."""
    choices = _choices(body)
    if len(choices) == 1 and isinstance(choices[0], dict) and isinstance(message := choices[0].get("message"), dict):
        content = message.get("content")
        more = body.get("error") or any(message[name] for name in message.keys() - _SAID)
        if content and isinstance(content, str) and not more:
            return content
    from seedbed.lm.compat.dspy import chat_output

    return chat_output(decode(body, model))


def _choices(body: JsonDict) -> list[Any]:
    """Checked here and not by the provider: a reply without any may still tell what it cost."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ProviderError("malformed", "the response has no choices")
    return choices


def is_empty(body: JsonDict) -> bool:
    """Whether a completion says nothing at all: paid, but not worth keeping as an answer."""
    for choice in body.get("choices") or []:
        message = choice.get("message") or {}
        if message.get("content") or message.get("tool_calls") or message.get("refusal"):
            return False
    return True


def retry_delay(error: ProviderError, model: ModelConfig, number: int) -> float:
    """The growing, jittered pause before the next try, or the provider's Retry-After if that is longer."""
    growing = min(_MAX_BACKOFF_S, model.backoff_s * 2 ** min(number - 1, 16))
    return max(error.retry_after or 0.0, growing * random.uniform(0.5, 1.0))  # noqa: S311 - jitter


def to_dspy_error(error: ProviderError) -> Exception:
    """The failure in DSPy's terms. DSPy makes the retries, at once: the pause between them is made by the runtime,
    where a stop can end it."""
    from dspy import lm15

    classes: dict[str, type[lm15.LM15Error]] = {
        "rate_limit": lm15.RateLimitError,
        "server": lm15.ServerError,
        "malformed": lm15.ServerError,
        "timeout": lm15.TimeoutError,
        "transport": lm15.TransportError,
        "auth": lm15.AuthError,
        "billing": lm15.BillingError,
        "context_length": lm15.ContextLengthError,
        "invalid_request": lm15.InvalidRequestError,
    }
    return classes[error.kind](error.message, status=error.status, retry_after=0.0)


@lru_cache(maxsize=1)
def _wire() -> OpenAIChatLM:
    from dspy.lm15 import OpenAIChatLM

    # Used as an encoder only: neither the key nor the address is ever sent anywhere.
    return OpenAIChatLM(api_key="unused", base_url="http://localhost/v1")


def _body_of_texts(request: Request) -> JsonDict | None:
    """What the encoder makes of a request of texts alone, at a tenth of its price; None for any other request."""
    sampling: JsonDict = {}
    for name in type(request.config).__dataclass_fields__:
        value = getattr(request.config, name)
        if value is None or value == ():
            continue
        if name not in _TEXT_CONFIG:
            return None
        sampling[_TEXT_CONFIG[name]] = list(value) if name == "stop" else value
    if request.tools or not isinstance(request.system, str | None):
        return None
    messages: list[JsonDict] = [{"role": "system", "content": request.system}] if request.system else []
    for message in request.messages:
        part = message.parts[0]
        if len(message.parts) != 1 or part.type != "text" or message.role not in _TEXT_ROLES or part.continuation:
            return None
        messages.append({"role": message.role, "content": part.text})
    return {"model": request.model, "messages": messages, **sampling}


def _response_of_text(body: JsonDict, model: str) -> Response | None:
    """What DSPy makes of a completion of text alone, at a fraction of its price; None for any other completion."""
    from dspy.lm15 import Message, Response, TextPart, Usage

    choices, usage = body["choices"], body.get("usage")
    message, content = choices[0]["message"], choices[0]["message"].get("content")
    if not content or not isinstance(content, str) or choices[0].get("logprobs") or body.get("error"):
        return None
    if choices[0].get("finish_reason") not in ("stop", "length") or any(
        message[name] for name in message.keys() - _SAID
    ):
        return None
    told = Usage()
    if usage is not None:
        sent, received = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if type(sent) is not int or type(received) is not int:
            return None
        told = Usage(input_tokens=sent, output_tokens=received)
    return Response(
        id=body.get("id"),
        model=body.get("model") or model,
        message=Message.assistant([TextPart(text=content)]),
        finish_reason=choices[0]["finish_reason"],
        usage=told,
    )
