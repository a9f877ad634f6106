"""What the metrics of other tools are. Their files do not say; of names that are well known it is known here, of others
no more is claimed than that they are numbers."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from seedbed.suite import Metric

_RATES = frozenset(
    {"acc", "acc_norm", "acc_bytes", "exact_match", "em", "pass@1", "accuracy", "match", "includes", "exact", "choice"}
    | {"prompt_level_strict_acc", "prompt_level_loose_acc", "model_graded_qa", "model_graded_fact", "pattern"}
)
_SHARES = frozenset({"f1", "rouge1", "rouge2", "rougeL", "rougeLsum", "inst_level_strict_acc", "inst_level_loose_acc"})
_LOWER = frozenset({"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "ter", "wer", "loglikelihood"})


def declare(name: str, values: AbstractSet[float], *, graded: bool = False) -> Metric:
    """A metric by the name it has in its file, a filter behind a comma left aside. `graded`: its values were truths or
    letters for correct and incorrect. Tasks may give a part of the mark: it is no rate then."""
    plain = name.partition(",")[0]
    if graded or plain in _RATES:
        return Metric(name, name, kind="rate" if values <= {0.0, 1.0} else "mean")
    if plain in _SHARES:
        return Metric(name, name)
    if plain in _LOWER:
        return Metric(name, name, higher_is_better=False, range=None)
    return Metric(name, name, higher_is_better=None, range=None)
