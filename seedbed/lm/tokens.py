"""Token counts: read from a response, or estimated where the provider does not say."""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from typing import Any

from seedbed.lm.compat import LibraryChanged
from seedbed.lm.compat.litellm import TOKENIZERS
from seedbed.lm.prices.rates import TIERS
from seedbed.lm.request_size import likely_media_tokens
from seedbed.lm.types import JsonDict, Usage
from seedbed.lm.usage import told_usage

logger = logging.getLogger("seedbed.lm")

_TOKENS_PER_MESSAGE = 4
_SAYS_ALL = frozenset({*TIERS, "default", "standard"})
"""Served tiers that leave nothing open; another says less of the price than what was asked for."""


_CUT = ("length", "max_tokens")
"""Reasons to end that mean: no more tokens were allowed."""


def usage_of(request: JsonDict, response: JsonDict) -> Usage:
    """The tokens of a response; counted here and marked `estimated` where the provider left them out."""
    used = billed_usage(request, response) or _counted(request, response)
    return used._replace(cut=True) if _is_cut(response) else used


def _is_cut(response: JsonDict) -> bool:
    return any(choice.get("finish_reason") in _CUT for choice in response.get("choices") or [])


def _counted(request: JsonDict, response: JsonDict) -> Usage:
    name = str(request.get("model", ""))
    replies = [(choice.get("message") or {}).get("content") or "" for choice in response.get("choices", [])]
    sent = sum(_TOKENS_PER_MESSAGE + count_tokens(text, name) for text in _texts(request))
    asked = request.get("service_tier")
    return Usage(
        input=sent + likely_media_tokens(request),
        output=sum(count_tokens(str(reply), name) for reply in replies),
        estimated=True,
        tier=asked if isinstance(asked, str) else None,
    )


def billed_usage(request: JsonDict, response: JsonDict) -> Usage | None:
    """What a response says it used, at the service tier that it is billed at: the one it says it was served at, else
    the one that was asked for."""
    told, asked = told_usage(response), request.get("service_tier")
    if told is None or not isinstance(asked, str) or asked == "auto" or (told.tier or "").lower() in _SAYS_ALL:
        return told
    return told._replace(tier=asked)


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
