"""The metrics of the suite that need no model: how right an answer is, in which language, at what translation cost.

A gold answer is a string or a list of accepted strings; with a list the best one counts. Language tags may be written
`zh_cn`, `zh-CN` or `ZH`. Each function scores one sample; `score_rows` gives the same numbers for many at once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seedbed.suites.crosslingual.mkqa import em_mkqa, f1_mkqa
from seedbed.suites.crosslingual.scripts import LETTER_MASKS, language_mask, splits_by_character
from seedbed.suites.kit.answer_text import answers, normalise, normalised_f1

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "RLC_THRESHOLD",
    "cnbe",
    "cnbe_ratio",
    "em_mkqa",
    "exact_match",
    "f1_mkqa",
    "f1_score",
    "normalise",
    "rlc",
    "rlc_ok",
    "score_rows",
]

RLC_THRESHOLD = 0.6
"""From this share of target-language letters on, an answer counts as given in the target language."""


def exact_match(pred: str, gold: str | Sequence[str], lang: str) -> float:
    """1.0 where the normalised prediction equals a normalised accepted answer; two empty texts are equal.

    The language changes nothing here; it is taken so that all answer metrics are called alike.
    """
    normalised = normalise(pred)
    return float(any(normalised == normalise(answer) for answer in answers(gold)))


def f1_score(pred: str, gold: str | Sequence[str], lang: str) -> float:
    """Best token F1 of the normalised texts over the accepted answers; by character in Chinese and Japanese."""
    by_character = splits_by_character(lang)
    normalised = normalise(pred)
    return max(normalised_f1(normalised, normalise(answer), by_character) for answer in answers(gold))


def rlc(text: str, lang: str) -> float:
    """Response language consistency: the share of the letters that are in a script of the target language.

    Only letters count; a text without any (a bare number, an empty answer) is consistent with every language.
    Scripts, not words, are judged: German passes as English. An unknown language is a ValueError.
    """
    wanted = language_mask(lang)
    letters = [mask for mask in map(LETTER_MASKS.__getitem__, map(ord, text)) if mask]
    if not letters:
        return 1.0
    return sum(1 for mask in letters if mask & wanted) / len(letters)


def rlc_ok(text: str, lang: str, threshold: float = RLC_THRESHOLD) -> float:
    """1.0 where `rlc` reaches the threshold, else 0.0."""
    return float(rlc(text, lang) >= threshold)


def cnbe(f1: Sequence[float], base: Sequence[float], cost: Sequence[float]) -> list[float]:
    """Cost-normalised bridging efficiency of each sample: its F1 gain over the direct answer per translation token.

    The three lists are aligned by sample. A sample that cost nothing scores 0.0 whatever it gained, and stays in the
    mean.
    """
    _check_costs(f1, base, cost)
    return [(own - direct) / spent if spent else 0.0 for own, direct, spent in zip(f1, base, cost, strict=True)]


def cnbe_ratio(f1: Sequence[float], base: Sequence[float], cost: Sequence[float]) -> float | None:
    """The sum of all F1 gains over the sum of all costs; undefined, so None, where nothing was translated."""
    _check_costs(f1, base, cost)
    spent = sum(cost)
    return (sum(f1) - sum(base)) / spent if spent else None


def _check_costs(f1: Sequence[float], base: Sequence[float], cost: Sequence[float]) -> None:
    if not len(f1) == len(base) == len(cost):
        raise ValueError(
            f"f1, base and cost must pair by sample, but have {len(f1)}, {len(base)} and {len(cost)} values"
        )
    if any(spent < 0 for spent in cost):
        raise ValueError(f"a translation cost cannot be negative: {min(cost)}")


def score_rows(
    preds: Sequence[str],
    golds: Sequence[str | Sequence[str]],
    langs: Sequence[str],
    threshold: float = RLC_THRESHOLD,
) -> "dict[str, NDArray[np.float64]]":
    """`em`, `f1`, `rlc` and `rlc_ok` of many samples: the numbers of the single functions in a fraction of the time.

    Rows may mix languages freely.
    """
    # numpy only when a batch is scored: importing the metrics stays light.
    from seedbed.suites.crosslingual.batch import score_batch

    return score_batch(preds, golds, langs, threshold)
