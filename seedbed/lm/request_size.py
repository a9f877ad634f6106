"""How large a request is before anybody has counted its tokens: a likely size, for limits, and the most that a provider
can make of it, for a reservation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from seedbed.lm.types import JsonDict

_CHARS_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 4
_MOST_PER_MESSAGE, _MOST_PER_REQUEST = 12, 16
"""Roles and marks that a chat template puts around a message and around the whole."""
_MOST_OF_EXTRAS = 1024
"""What providers write before a request with tools, formats or thinking of their own accord."""
_PLAIN = frozenset(
    {"model", "messages", "input", "encoding_format", "temperature", "top_p", "seed", "stop", "n"}
    | {"max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty", "service_tier"}
)
LENGTHS = ("max_completion_tokens", "max_tokens")
"""How a request says how long its answer may be."""
_ALSO_SENT = ("tools", "functions", "response_format", "tool_choice", "prediction")

_LIKELY_IMAGE, _MOST_IMAGE = 1_000, 16_384
_MOST_IMAGE_OF = {"gpt-4o-mini": 49_152}
"""The most that an image can be: the dearest are the eight tiles of gpt-4o-mini, 48,169 tokens. Providers shrink what
is larger."""
_BYTES_PER_LIKELY_AUDIO_TOKEN, _BYTES_PER_AUDIO_TOKEN = 400, 10
"""Speech at 6 kbit a second, the least that is used, and 32 tokens a second, the most that is counted, are 24 bytes a
token; compressed silence is less."""
_LIKELY_FILE = 10_000


@dataclass(frozen=True, slots=True)
class RequestSize:
    likely: int
    """Input tokens, for limits by the minute."""
    most: int
    """Input tokens that it can at most be billed for, beside what only the provider can measure."""
    images: int = 0
    audio: bool = False
    files: bool = False
    """It names documents or videos whose length nobody knows here, or has the provider search: the model's context is
    the only bound."""
    searches: int = 0
    """Searches of the web that the provider may make."""


def request_size(body: JsonDict) -> RequestSize:
    """Cheap for requests of texts alone, which nearly all are."""
    likely, most, images, audio, files = 0, _MOST_PER_REQUEST, 0, 0, False
    for text, part in _contents(body):
        if part is None:
            # Scripts without spaces cost about a token a character; bytes tell them from letters. No token of any
            # tokenizer is less than a byte.
            length = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
            likely += length // _CHARS_PER_TOKEN + _TOKENS_PER_MESSAGE
            most += length + _MOST_PER_MESSAGE
            continue
        kind = str(part.get("type", ""))
        if "image" in kind:
            images += 1
        elif "audio" in kind and isinstance(part.get("input_audio"), dict):
            audio += len(str(part["input_audio"].get("data", "")))
        elif kind in ("tool_use", "tool_result", "thinking", "refusal"):
            most += len(orjson.dumps(part))
        else:
            files = True
    if not body.keys() <= _PLAIN:
        most += _MOST_OF_EXTRAS
    for name in _ALSO_SENT:
        if name in body:
            length = len(orjson.dumps(body[name]))
            likely += length // _CHARS_PER_TOKEN
            most += length
    most_image = next((n for name, n in _MOST_IMAGE_OF.items() if name in str(body.get("model"))), _MOST_IMAGE)
    likely += images * _LIKELY_IMAGE + audio // _BYTES_PER_LIKELY_AUDIO_TOKEN + files * _LIKELY_FILE
    most += images * most_image + audio // _BYTES_PER_AUDIO_TOKEN
    return RequestSize(likely, most, images, audio > 0, files, _searches(body))


def likely_media_tokens(body: JsonDict) -> int:
    """Of pictures, sounds and documents, which no tokenizer here can count."""
    parts = [part for _, part in _contents(body) if part is not None]
    return request_size({"messages": [{"content": parts}]}).likely if parts else 0


def most_output(body: JsonDict, limit: int) -> int:
    """Output tokens that it can at most be billed for, in all its answers. `limit` is the model's own."""
    asked = [length for name in LENGTHS if (length := number_meant(body.get(name))) is not None]
    # What a prediction offers and the model does not take is billed as output.
    offered = len(orjson.dumps(body["prediction"])) if body.get("prediction") else 0
    return (number_meant(body.get("n")) or 1) * ((max(asked) if asked else limit) + offered)


def number_meant(value: Any) -> int | None:
    """A number above 0, also in the forms that many servers take for one (`3.0`, `"3"`); of -1, which is no limit to
    some, and of all else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = math.ceil(float(value))
    except (ValueError, OverflowError):
        return None
    return number if number > 0 else None


def _contents(body: JsonDict) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    """Texts, and parts of messages that are something else."""
    for message in body.get("messages", []):
        content = message.get("content")
        if isinstance(content, str):
            yield content, None
        elif isinstance(content, list):
            for part in content:
                if isinstance(part, str):
                    yield part, None
                elif "text" in part:
                    yield str(part["text"]), None
                else:
                    yield "", part
        for name in ("tool_calls", "function_call", "reasoning_content", "thinking_blocks", "refusal", "name"):
            if message.get(name):
                yield orjson.dumps(message[name]).decode(), None
        if message.get("audio"):
            yield "", {"type": "file"}  # an answer of before, by its number alone
    inputs = body.get("input", ())
    yield from (((inputs, None),) if isinstance(inputs, str) else ((str(text), None) for text in inputs))


def _searches(body: JsonDict) -> int:
    """At most so many; a tool may say how many it may make, else ten are taken."""
    found = 0
    for tool in body.get("tools") or ():
        if isinstance(tool, dict) and "search" in str(tool.get("type", "")) + " ".join(tool):
            uses = tool.get("max_uses")
            found += uses if isinstance(uses, int) and uses >= 0 else 10
    return found + (10 if body.get("web_search_options") is not None else 0)
