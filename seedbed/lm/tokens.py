"""Token counts: read from a response, or estimated where the provider does not say."""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from typing import Any

import orjson

from seedbed.lm.compat import LibraryChanged
from seedbed.lm.compat.litellm import TOKENIZERS
from seedbed.lm.types import JsonDict, Usage

logger = logging.getLogger("seedbed.lm")

_CHARS_PER_TOKEN = 3
"""On the safe side for a reservation; what is billed is read from the response."""
_TOKENS_PER_MESSAGE = 4
_MOST_TOKENS = 100_000_000
_ALSO_SENT = ("tools", "response_format")


def usage_of(request: JsonDict, response: JsonDict) -> Usage:
    """The tokens of a response; counted here and marked `estimated` where the provider left them out."""
    told = told_usage(response)
    if told is not None:
        return told
    name = str(request.get("model", ""))
    replies = [(choice.get("message") or {}).get("content") or "" for choice in response.get("choices", [])]
    sent = sum(_TOKENS_PER_MESSAGE + count_tokens(text, name) for text in _texts(request))
    return Usage(input=sent, output=sum(count_tokens(str(reply), name) for reply in replies), estimated=True)


def told_usage(response: JsonDict) -> Usage | None:
    """The tokens as the provider tells them, or None."""
    told = response.get("usage")
    if not isinstance(told, dict):
        return None
    sent, received = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    if sent is None or received is None:
        return None
    return Usage(
        input=sent,
        output=received,
        cached=min(sent, _detail(told, "prompt_tokens_details", "cached_tokens")),
        reasoning=_detail(told, "completion_tokens_details", "reasoning_tokens"),
    )


def rough_size(request: JsonDict) -> int:
    """An upper guess at a request's input tokens, from its length alone: cheap enough for every call."""
    size = 0
    for text in _texts(request):
        # Scripts without spaces cost about a token a character; bytes tell them from letters.
        length = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        size += length // _CHARS_PER_TOKEN + _TOKENS_PER_MESSAGE
    for name in _ALSO_SENT:
        if name in request:
            size += len(orjson.dumps(request[name])) // _CHARS_PER_TOKEN
    return size


def count_tokens(text: str, model: str = "") -> int:
    """Tokens of a text by the tokenizer of OpenAI's newer models, or of the older ones by name."""
    return len(
        _encoding("cl100k_base" if "gpt-4-" in model or "gpt-3.5" in model else "o200k_base").encode_ordinary(text)
    )


@lru_cache(maxsize=2)
def _encoding(name: str) -> Any:
    # litellm ships the tokenizer's files; pointing at them keeps tiktoken off the network.
    try:
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(TOKENIZERS.find()))
    except LibraryChanged as error:
        # An answer that is paid must not be lost for this.
        logger.warning("%s Until then tiktoken fetches the file from the network.", error)
    import tiktoken

    return tiktoken.get_encoding(name)


def _detail(usage: dict[str, Any], group: str, name: str) -> int:
    details = usage.get(group)
    return (_count(details.get(name)) if isinstance(details, dict) else None) or 0


def _count(value: Any) -> int | None:
    """A number of tokens that can be meant; another is as good as none, and no database has to hold it."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _texts(request: JsonDict) -> list[str]:
    texts: list[str] = []
    for message in request.get("messages", []):
        content = message.get("content")
        if isinstance(content, str):
            texts.append(content)
        elif isinstance(content, list):
            texts.extend(str(part.get("text", "")) for part in content)
    inputs = request.get("input", ())
    texts.extend([inputs] if isinstance(inputs, str) else map(str, inputs))
    return texts
