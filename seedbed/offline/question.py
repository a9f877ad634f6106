"""What kind of answer a question asks for, in the six languages of the sample data."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

QuestionKind = Literal["year", "number", "name"]

_YEAR = re.compile(
    r"\bwhen\b|\b(?:what|which) years?\b|哪一?年|何时|什么时候|几年建|何年(?!間)|いつ|\bwann\b|\bwelche[mns]? jahr"
    r"|cuándo|\bqué años?\b|متى|(?:أي|اي) (?:عام|سنة)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow (?:long|high|tall|deep|many|much|wide|far|old|large|big|heavy|fast|often)\b"
    r"|\bwhat (?:is|was|are|were)? ?(?:the |its )?(?:\w+ )?"
    r"(?:length|height|depth|width|area|population|weight|number|altitude|elevation)\b"
    r"|多[长高深少大宽远久重快]|几[个座条年天次人名层]|面积|人口(?:是|有)?多|海拔"
    r"|何(?:メートル|キロ|人|本|つ|台|個|日|時間|冊|種|年間|段|階|回|歳|トン|キログラム|席)|いくつ|いくら|ど(?:れ|の)くらい|どれほど"
    r"|(?:長さ|高さ|深さ|幅|面積|人口|標高|重さ)は"
    r"|\bwie (?:lang|hoch|tief|viel|viele|vielen|weit|breit|groß|alt|schwer|schnell|oft)\b"
    r"|cuánt[oa]s?\b|\bqué (?:longitud|altura|profundidad|anchura|superficie|población|altitud)\b"
    r"|\bكم\b|(?:^|\s)(?:ما|كم) (?:هو |هي )?(?:طول|ارتفاع|عمق|عدد|مساحة|عرض|وزن)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def kind_of(question: str) -> QuestionKind:
    """`name` when it is neither a year nor a number: somebody, somewhere, something."""
    if _YEAR.search(question):
        return "year"
    return "number" if _NUMBER.search(question) else "name"
