"""How much of the right answer is in the answer: token F1, ROUGE, BLEU, chrF. Each is a value a sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from seedbed.suite import Case, Metric, PhaseContext, Scored, ScorerSpec
from seedbed.suites.kit.answer_text import normalise, token_f1
from seedbed.suites.kit.scorers.values import VERSION, GoldOptions, accepted, answer_text, told

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


class OverlapOptions(GoldOptions):
    language: str | None = None
    """Chinese and Japanese (zh, ja) are compared by character, all others by word; null looks at the right answer."""


def f1(context: PhaseContext, case: Case, output: Mapping[str, Any], options: OverlapOptions) -> Scored | None:
    """Token F1 against the nearest accepted answer."""
    return _best(case, output, options, {"f1": lambda a, g: token_f1(_tokens(a, g, options), _tokens(g, g, options))})


def rouge(context: PhaseContext, case: Case, output: Mapping[str, Any], options: OverlapOptions) -> Scored | None:
    """F-measures of ROUGE-1, ROUGE-2 and ROUGE-L, without stemming."""

    def pairs(n: int) -> Any:
        return lambda a, g: _ngram_f(_tokens(a, g, options), _tokens(g, g, options), n)

    def longest(a: str, g: str) -> float:
        left, right = _tokens(a, g, options), _tokens(g, g, options)
        return _f_measure(_common_subsequence(left, right), len(left), len(right))

    return _best(case, output, options, {"rougeL": longest, "rouge1": pairs(1), "rouge2": pairs(2)})


def bleu(context: PhaseContext, case: Case, output: Mapping[str, Any], options: OverlapOptions) -> Scored | None:
    """Sentence BLEU of sacrebleu against all accepted answers."""
    return _sacre("bleu", case, output, options)


def chrf(context: PhaseContext, case: Case, output: Mapping[str, Any], options: OverlapOptions) -> Scored | None:
    """Sentence chrF of sacrebleu against all accepted answers."""
    return _sacre("chrf", case, output, options)


def _best(case: Case, output: Mapping[str, Any], options: OverlapOptions, measures: Mapping[str, Any]) -> Scored | None:
    """Each measure with the accepted answer that is best in the first of them."""
    answer, golds = answer_text(output, options), accepted(case, options)
    if not golds:
        return None
    first = next(iter(measures.values()))
    nearest = max(golds, key=lambda gold: first(answer, gold))
    values: dict[str, float | None] = {name: measure(answer, nearest) for name, measure in measures.items()}
    return Scored(values, feedback=told(answer, [nearest], right=next(iter(values.values())) == 1.0))


def _tokens(text: str, gold: str, options: OverlapOptions) -> list[str]:
    language = (options.language or "").lower().replace("_", "-").partition("-")[0]
    by_character = language in ("zh", "ja") if language else bool(_UNSPACED.search(gold))
    known = normalise(text)
    return list(known.replace(" ", "")) if by_character else known.split()


def _ngram_f(left: Sequence[str], right: Sequence[str], n: int) -> float:
    ours, theirs = (Counter(tuple(side[i : i + n]) for i in range(len(side) - n + 1)) for side in (left, right))
    return _f_measure((ours & theirs).total(), ours.total(), theirs.total())


def _f_measure(common: int, left: int, right: int) -> float:
    return 2.0 * common / (left + right) if left + right else 1.0


def _common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest one, by rows of the usual table."""
    row = [0] * (len(right) + 1)
    for token in left:
        corner = 0
        for place, other in enumerate(right, start=1):
            above = row[place]
            row[place] = corner + 1 if token == other else max(above, row[place - 1])
            corner = above
    return row[-1]


def _sacre(name: str, case: Case, output: Mapping[str, Any], options: OverlapOptions) -> Scored | None:
    answer, golds = answer_text(output, options), accepted(case, options)
    if not golds:
        return None
    language = options.language or ("zh" if _UNSPACED.search(golds[0]) else "")
    value = _metric(name, language).sentence_score(answer, golds).score
    return Scored({name: value}, feedback=told(answer, golds, right=value >= 100.0))


@lru_cache(maxsize=16)
def _metric(name: str, language: str) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise ImportError(f"{name} needs the package sacrebleu; pip install 'seedbed[text]'") from None
    if name == "chrf":
        return CHRF()
    # By character where words are not parted: its tokenizer for Japanese wants a dictionary.
    return BLEU(effective_order=True, tokenize={"zh": "zh", "ja": "char"}.get(language.partition("-")[0], "13a"))


F1 = ScorerSpec(f1, (Metric("f1", "F1"),), OverlapOptions, version=VERSION)
ROUGE = ScorerSpec(
    rouge,
    (Metric("rougeL", "ROUGE-L"), Metric("rouge1", "ROUGE-1"), Metric("rouge2", "ROUGE-2")),
    OverlapOptions,
    version=VERSION,
)
BLEU = ScorerSpec(bleu, (Metric("bleu", "BLEU", digits=1, range=(0.0, 100.0)),), OverlapOptions, version=VERSION)
CHRF = ScorerSpec(chrf, (Metric("chrf", "chrF", digits=1, range=(0.0, 100.0)),), OverlapOptions, version=VERSION)
