"""A document cut into sentences, each with its price in tokens.

The price is the tokens of the text that is translated, by one tokenizer for every translator: it is known before
anything is spent, so a budget can be kept to the token, and it is the same whether the translation is paid for or comes
from the ledger. The tokens of a document are the sum over its sentences, so that both levels of selection compare.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from seedbed.suites.crosslingual.scripts import base_language

_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.\s*$")
"""Behind "3." a sentence goes on: German writes dates so, and headings are numbered so."""


@dataclass(frozen=True, slots=True)
class Segment:
    text: str
    after: str
    """The white space between this and the next."""
    tokens: int


@lru_cache(maxsize=16384)  # the same documents come with many questions
def segments(text: str, lang: str) -> tuple[Segment, ...]:
    """The sentences and lines of a text; text and white space joined give the text again."""
    cut: list[str] = []
    for piece in _sentences(text, lang):
        if cut and (_ORDINAL.search(cut[-1]) or not piece.strip()):
            cut[-1] += piece
        else:
            cut.append(piece)
    return tuple(Segment(body := piece.rstrip(), piece[len(body) :], count_tokens(body)) for piece in cut)


def tokens_of(text: str, lang: str) -> int:
    """What it costs to have a text translated."""
    return sum(segment.tokens for segment in segments(text, lang))


@lru_cache(maxsize=65536)
def count_tokens(text: str) -> int:
    """By the tokenizer of OpenAI's newer models, whichever model translates."""
    from seedbed.lm import tokens

    return tokens.count_tokens(text) if text.strip() else 0


def _sentences(text: str, lang: str) -> list[str]:
    from icu4py.breakers import SentenceBreaker

    return list(SentenceBreaker(text, f"{base_language(lang)}@ss=standard"))
