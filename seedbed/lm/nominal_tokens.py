"""Nominal token counts for the offline model.

The counts are not those of any tokenizer in use. They are deterministic, need no vocabulary file, grow with the text
as real counts do, and charge scripts without spaces by the character, so that costs compare sensibly over languages.
"""

from __future__ import annotations

import re

_WIDE = (
    r"\u0e00-\u0eff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"(?P<word>[^\W{_WIDE}]+)|(?P<single>[{_WIDE}]|[^\w\s])")
_WIDE_CHAR = re.compile(rf"[{_WIDE}]")
_WORD = re.compile(rf"[^\W{_WIDE}]+")
_MARK = re.compile(rf"[^\w\s{_WIDE}]")


def count_tokens(text: str) -> int:
    """A character of Chinese, Japanese, Korean, Thai, Lao or Khmer is 1, a mark 1, a word 1 per 4 letters begun."""
    words = sum((len(word) + 3) // 4 for word in _WORD.findall(text))
    return words + len(_WIDE_CHAR.findall(text)) + len(_MARK.findall(text))


def truncate(text: str, limit: int) -> str:
    """The longest beginning of `text` that counts at most `limit` tokens, cut between words."""
    used = 0
    for piece in _PIECE.finditer(text):
        used += (len(piece.group()) + 3) // 4 if piece.lastgroup == "word" else 1
        if used > limit:
            return text[: piece.start()]
    return text
