"""Two recalls beside F1: is the answer in what the model was shown, and how much of it is in what the model said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from seedbed.suites.crosslingual.scripts import base_language
from seedbed.suites.kit.answer_text import answers, normalise

_GRAM = 3
_UNSPACED = frozenset({"zh", "ja", "yue", "th", "km", "lo", "my", "bo"})


def answer_in_context(texts: Sequence[str], gold: str | Sequence[str], lang: str) -> float | None:
    """1.0 where a text shown to the model holds an accepted answer, normalised, as whole words; None where nothing was
    shown. Evidence in another language than the answer's counts as found only by names and numbers that look alike."""
    if not texts:
        return None
    spaced = base_language(lang) not in _UNSPACED
    wanted = [normalised for answer in answers(gold) if (normalised := normalise(answer))]
    for text in map(normalise, texts):
        if any(f" {answer} " in f" {text} " if spaced else _bare(answer) in _bare(text) for answer in wanted):
            return 1.0
    return 0.0


def char_3gram_recall(pred: str, gold: str | Sequence[str]) -> float:
    """The share of the gold's character 3-grams, counted with repeats, that the prediction holds; the best accepted
    answer counts. Kinder than F1 to inflected and transliterated names. A shorter answer is one gram of its own; an
    empty one is met by an empty prediction only."""
    own = normalise(pred)
    return max(_gram_recall(own, normalise(answer)) for answer in answers(gold))


def _gram_recall(pred: str, gold: str) -> float:
    size = min(_GRAM, len(gold))
    if not size:
        return float(not pred)
    if gold in pred:
        return 1.0
    wanted = _grams(gold, size)
    if len(set(wanted)) == len(wanted):
        # Without repeats it is enough that a gram is there, which needs no counting.
        return sum(gram in pred for gram in wanted) / len(wanted)
    return (Counter(wanted) & Counter(_grams(pred, size))).total() / len(wanted)


def _grams(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(len(text) - size + 1)]


def _bare(text: str) -> str:
    return text.replace(" ", "")
