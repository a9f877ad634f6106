"""Search by words: the scores of bm25s to the bit, and the best k as a full sort would give them."""

from __future__ import annotations

import logging
import random
from typing import Any

import pytest

from seedbed.suites.kit.retrieval.collection import in_memory

TEXTS = {
    "many ties": (400, 12, 3),
    "rare and common words": (1500, 900, 25),
    "one text": (1, 3, 2),
}


def by_bm25s(texts: list[list[str]]) -> Any:
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(method="lucene")
    index.index([list(tokens) for tokens in texts], show_progress=False)
    return index


def some_texts(draw: random.Random, count: int, words: int, longest: int) -> list[list[str]]:
    """Word number n is drawn n times less often than word 1, as in a language; some texts are empty."""
    names, weights = [f"w{n}" for n in range(words)], [1 / (n + 1) for n in range(words)]
    return [["w0"], *(draw.choices(names, weights, k=draw.randint(0, longest)) for _ in range(count - 1))]


@pytest.mark.parametrize("shape", TEXTS.values(), ids=TEXTS)
def test_scores_and_the_best_are_those_of_bm25s(shape: tuple[int, int, int]) -> None:
    draw = random.Random(3)
    texts = some_texts(draw, *shape)
    index, theirs = in_memory(texts), by_bm25s(texts)
    for _ in range(150):
        query = [f"w{draw.randrange(shape[1] + 1)}" for _ in range(draw.randint(1, 6))]
        expected = theirs.get_scores(query)
        assert index.scores(query).tolist() == expected.tolist()
        fitting = sorted((i for i in range(len(texts)) if expected[i] > 0), key=lambda i: (-expected[i], i))
        k = draw.choice([0, 1, 3, 10, 50, 10_000])
        assert index.best(query, k) == [(i, float(expected[i])) for i in fitting[:k]]


def test_nothing_is_found_for_words_that_no_text_has() -> None:
    index = in_memory([["a", "b"], ["b"]])
    assert index.best(["c"], 5) == []
    assert index.best([], 5) == []
    assert index.best(["\ud800"], 5) == []
    assert in_memory([]).best(["a"], 5) == []
    assert in_memory([[], []]).best(["a"], 5) == []
    assert [place for place, _ in index.best(["b"], 5)] == [1, 0]


def test_a_common_word_is_looked_up_only_where_rare_ones_were_found() -> None:
    """The list of a word that cannot change who is among the best is not read through."""
    index = in_memory([["the"] * (1 + n % 3) + (["rare"] if n in (7, 70) else []) for n in range(5000)])
    assert [place for place, _ in index.best(["the", "rare"], 2)] == [7, 70]
    assert index._read == 2
