"""Search by words: the best k as a full sort would give them."""

from __future__ import annotations

import random

from seedbed.suites.kit.bm25 import Bm25


def by_sorting(index: Bm25, query: list[str], k: int) -> list[tuple[int, float]]:
    scores = index.scores(query)
    fitting = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))
    return [(place, scores[place]) for place in fitting[:k]]


def test_the_best_k_are_those_of_a_full_sort_with_ties_in_their_order() -> None:
    draw = random.Random(3)
    words = [f"w{number}" for number in range(12)]
    # Many texts are equal, so that the k-th best often has equals on both sides of the cut.
    index = Bm25([[draw.choice(words) for _ in range(3)] for _ in range(400)])
    for _ in range(200):
        query = [draw.choice(words) for _ in range(draw.randint(1, 3))]
        k = draw.choice([0, 1, 3, 10, 50, 1000])
        assert index.best(query, k) == by_sorting(index, query, k)


def test_nothing_is_found_for_words_that_no_text_has() -> None:
    index = Bm25([["a", "b"], ["b"]])
    assert index.best(["c"], 5) == []
    assert index.best([], 5) == []
    assert Bm25([]).best(["a"], 5) == []
    assert [place for place, _ in index.best(["b"], 5)] == [1, 0]
