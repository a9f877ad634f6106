"""When two passages are the same passage: for context precision, and for near-duplicate questions."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

_WIDE = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Chinese and Japanese are set with or without a space beside a Latin word or a number; it means nothing.
_SPACE_BESIDE_WIDE = re.compile(rf"(?<=[{_WIDE}]) | (?=[{_WIDE}])")
_OUTER_MARKS = re.compile(r"^[^\w]+|[^\w%°)\]]+$")


@lru_cache(maxsize=8192)  # every retrieved context meets every ground-truth context
def normalise(text: str) -> str:
    """Case, width, spacing and outer punctuation (an ellipsis that marks a cut) gone."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _OUTER_MARKS.sub("", _SPACE_BESIDE_WIDE.sub("", plain))


@lru_cache(maxsize=8192)
def _trigrams(text: str) -> Counter[str]:
    return Counter(text[i : i + 3] for i in range(max(1, len(text) - 2)))


def similarity(one: str, other: str) -> float:
    """Shared character 3-grams of the normalised texts over all (Dice): 1 for equal texts, 0 for strangers."""
    left, right = normalise(one), normalise(other)
    if not left or not right:
        return 0.0
    ours, theirs = _trigrams(left), _trigrams(right)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def same_passage(one: str, other: str, threshold: float) -> bool:
    """Equal, one within the other, or nearly equal. A blank text is the same as nothing."""
    left, right = normalise(one), normalise(other)
    if not left or not right:
        return False
    return left in right or right in left or similarity(one, other) >= threshold


def relevant_places(retrieved: Sequence[str], truths: Sequence[str], threshold: float) -> list[bool]:
    """For each retrieved context whether it is one of the ground-truth contexts."""
    return [any(same_passage(context, truth, threshold) for truth in truths) for context in retrieved]
