"""Cuts texts into passages, sentences, words and the keys by which they are compared."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from typing import cast

WIDE = r"\u0e00-\u0eff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts written without spaces, as a range for a character class."""

_WORD = re.compile(rf"[{WIDE}]+|[^\W_{WIDE}]+")
_WIDE_RUN = re.compile(rf"[{WIDE}]")
_LABEL = re.compile(r"\s*(?:[-*•]\s+|\[[^\]\n]{1,60}\]:?\s*|\([^)\n]{1,24}\):?\s*|\d{1,2}[.)]\s+|[Dd]ocument \d+:\s*)")
_BLOB = re.compile(r"«««\n(.*?)\n»»»|«([^»\n]*)»", re.DOTALL)
_NOTHING = re.compile(
    r"\W*(?:n/?a|none|null|empty|no (?:\w+ )?(?:documents?|context|evidence|passages?)|无|なし)\W*", re.I
)
_END = re.compile(r"[。！？]+[」』”’)）]*|[.!?؟…]+[\"'”’)»]*(?=\s|$)|\n+")
# A dot after these does not end a sentence: German ordinals ("3. März"), initials and common abbreviations.
_NO_END = re.compile(
    r"(?:(?<!\d)\d{1,2}|\b[A-ZÄÖÜ]|\b(?:Dr|Mr|Mrs|St|Sr|Sra|ca|bzw|etc|No|Nr|approx|vs|Jh|z\.B|e\.g|i\.e))$"
)
_ARABIC_ARTICLE = re.compile(r"^[وف]?(?:[بك]?ال|لل)(?=..)")
_ARABIC_FORMS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ـ": ""})
_TEXT_KEYS = ("text", "content", "passage", "document", "body")


def passages(value: str) -> list[str]:
    """The documents in an input value: a JSON list, DSPy's «» list, or paragraphs with or without labels."""
    if _NOTHING.fullmatch(value):
        return []
    found = _json_passages(value) or ["".join(blob) for blob in _BLOB.findall(value)] or value.split("\n")
    return [cleaned for text in found if (cleaned := _without_labels(text))]


def _json_passages(value: str) -> list[str]:
    if not value.startswith(("[", "{")):
        return []
    try:
        loaded: object = json.loads(value)
    except ValueError:
        return []
    items = cast("list[object]", loaded) if isinstance(loaded, list) else [loaded]
    return [_passage_text(item) for item in items]


def _passage_text(item: object) -> str:
    if isinstance(item, dict):
        record = cast("dict[str, object]", item)
        return next((str(record[key]) for key in _TEXT_KEYS if key in record), " ".join(map(str, record.values())))
    return str(item)


def _without_labels(text: str) -> str:
    text = text.strip()
    while match := _LABEL.match(text):
        text = text[match.end() :]
    return text.strip()


@lru_cache(maxsize=8192)  # the same passages come with many questions
def sentences(text: str) -> tuple[str, ...]:
    cut: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if end.group() == "." and _NO_END.search(text, start, end.start()):
            continue
        cut.append(text[start : end.end()].strip())
        start = end.end()
    cut.append(text[start:].strip())
    return tuple(sentence for sentence in cut if sentence)


def words(text: str) -> list[re.Match[str]]:
    """Words with their places; a run of a script without spaces is one."""
    return list(_WORD.finditer(text))


def is_wide(text: str) -> bool:
    return bool(_WIDE_RUN.match(text))


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """What is left of a word when case, accents, Arabic articles and common endings are gone.

    Endings are dropped letter by letter until four are left: crude, but "Rhein" and "Rheins", "bridge" and "bridges"
    meet, and both sides of every comparison go through it.
    """
    word = unicodedata.normalize("NFKD", word.casefold())
    word = "".join(c for c in word if not unicodedata.combining(c)).translate(_ARABIC_FORMS)
    word = _ARABIC_ARTICLE.sub("", word)
    while len(word) > 4 and word[-1] in "ensrm":
        word = word[:-1]
    return word


@lru_cache(maxsize=8192)
def terms(text: str) -> frozenset[str]:
    """What texts in one language share when they speak of the same thing: stems, and pairs of unspaced characters."""
    found: set[str] = set()
    for match in words(text):
        word = match.group()
        if is_wide(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.add(stem(word))
    return frozenset(found)


def sentence_key(text: str) -> str:
    """Equal for sentences that differ in case, spacing or closing punctuation only."""
    return " ".join(text.casefold().split()).strip(" .!?。！？؟\"'«»“”「」")


def phrase_key(text: str) -> str:
    """Equal for phrases that differ in case, spacing, punctuation, accents or common endings only."""
    return " ".join(m.group() if is_wide(m.group()) else stem(m.group()) for m in words(text))
